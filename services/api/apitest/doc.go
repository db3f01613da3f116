// Package apitest runs the api inside the tests of other services: the real services and stores on a database of the test,
// over an in-memory connection, with a clock that the test sets. Only tests import it. It contains no domain rules.
//
// The function Start is the entry point. A test stores data with the methods in facts.go. Answers replaces responses that
// would need a long history of calls and prices. Proxy counts gRPC calls, and lets a test fail or change them.
package apitest
