// Package secretscan looks for secrets in the history of a repository, in texts and in
// programs: values that it is told of, what has the form of a credential, and what looks
// as if it came from a random source. What is no secret is named by file and sum.
package secretscan
