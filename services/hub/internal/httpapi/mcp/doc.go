// Package mcp serves the Model Context Protocol (MCP). Each request has one message. A tool can require a permission of the
// operator key or a scope of the app token.
//
// The table of tools is in package httpapi; each tool runs a function of another subpackage. Start with transport.go.
package mcp
