// Package mcptest checks results of tools against their schemas, for tests of the packages whose functions the tools run.
package mcptest
