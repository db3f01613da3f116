// Package filing has the handlers that file calls and append events to calls, for operators, apps and agents.
//
// The api service has the rules of calls; package protocol has the bounds of their members. Start with calls.go.
package filing
