// Package request reads requests for all handlers: path and query parameters, body members, and the caller that the guard has
// resolved. It also charges requests to the rate limits of their IP address and writes audit entries for administrators.
//
// It writes nothing to the response except rate limit headers. Start with caller.go and params.go.
package request
