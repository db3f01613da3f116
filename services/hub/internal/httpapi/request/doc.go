// Package request reads requests for the handlers of all audiences: parameters of paths and queries, members of bodies, and the
// caller that the guard has resolved. It also charges requests to the limit of their address and records acts of administrators
// in the audit log.
//
// It writes nothing to the answer except headers of rate limits. Start with caller.go and params.go.
package request
