// Package awscfg loads the credentials, region and endpoints for AWS.
//
// Everything comes from the SDK's standard chain: environment, shared configuration files, web
// identity, container and instance role; AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_<SERVICE> replace
// endpoints. What is missing is found here, before anything is called.
package awscfg
