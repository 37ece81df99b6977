// Evaluates requests against policies. Argument: the folder that has node_modules. Standard input:
// {policies: {id: document}, requests: [request]}; standard output: for each request
// {result, ignored, error}. Run by simulate_test.go.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { runSimulation } = createRequire(join(process.argv[2], 'package.json'))('@cloud-copilot/iam-simulate')
const { policies, requests } = JSON.parse(readFileSync(0, 'utf8'))
const answers = []
for (const r of requests) {
  const simulation = {
    request: {
      principal: r.principal,
      action: r.action,
      resource: { resource: r.resource, accountId: r.account },
      contextVariables: r.context ?? {}
    },
    identityPolicies: r.policy ? [{ name: r.policy, policy: policies[r.policy] }] : [],
    sessionPolicy: r.session ? policies[r.session] : undefined,
    resourcePolicy: r.trust ? policies[r.trust] : undefined,
    serviceControlPolicies: [],
    resourceControlPolicies: []
  }
  const out = await runSimulation(simulation, {})
  answers.push({
    result: out.overallResult ?? '',
    ignored: out.result?.ignoredContextKeys ?? [],
    error: out.errors ? JSON.stringify(out.errors) : out.resultType === 'single' ? '' : out.resultType
  })
}
process.stdout.write(JSON.stringify(answers))
