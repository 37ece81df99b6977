# Applies the stack of remuda: deploy/cloudformation/remuda.yaml says what each variable means, which values it takes, and what is made.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 5.0" }
  }
}

variable "name" {
  type    = string
  default = "remuda"
}

variable "parameters" {
  description = "Parameters of the stack by their names there; Owner, Repo, Vpc and Subnets (ids, with commas between) are required."
  type        = map(string)
}

resource "aws_cloudformation_stack" "remuda" {
  name          = var.name
  template_body = file("${path.module}/../cloudformation/remuda.yaml")
  capabilities  = ["CAPABILITY_NAMED_IAM"]
  parameters    = merge({ Name = var.name }, var.parameters)
}

output "remuda" {
  description = "Outputs of the stack: Config, Region and WorkflowRoleArn."
  value       = aws_cloudformation_stack.remuda.outputs
}
