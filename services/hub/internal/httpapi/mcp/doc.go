// Package mcp serves the Model Context Protocol: one message in a request, and tools that check the permission of a key or the
// scope of an app token.
//
// It has no facts: the table of tools is in the edge, like the table of routes, and each tool runs a function of an audience.
// Start with transport.go.
package mcp
