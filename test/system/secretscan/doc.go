// Package secretscan searches the history of a repository, texts and programs for secrets. It reports the given secrets of a
// system, values in the format of a credential, and values that look random. A list in exceptions.go contains public values that
// look like secrets, with their files and checksums.
package secretscan
