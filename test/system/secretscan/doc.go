// Package secretscan searches the history of a repository, texts and programs for secrets. It reports the given secrets of a
// system, values in the format of a credential, and values that look random. Values that look like secrets but are public are
// listed with their file and checksum.
package secretscan
