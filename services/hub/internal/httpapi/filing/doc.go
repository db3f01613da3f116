// Package filing files calls and appends events to them, for operators, apps and agents.
//
// Rules of calls are in the api; the bounds of members are in pkg/protocol. Start with calls.go.
package filing
