// Package mcptest checks tool results against their JSON schemas, for tests of the packages that implement the tools.
package mcptest
