// Package conform checks from outside whether a server conforms to the protocol. Each check cites its source: a page of docs, an
// operation of the OpenAPI document, or a public standard. docs/conformance.md describes the command.
//
// Servers are not trusted: time, bodies, headers and the number of requests are limited, redirects are not followed, and control
// characters are removed from texts of a server. Without a key the checks store nothing.
package conform
