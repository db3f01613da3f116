// Package apitest runs the api inside the tests of other services: the real services and stores on a database of the test,
// over an in-memory connection, with a clock that the test sets. It contains no domain rules. Start reading at Start. A test
// stores facts with the methods of facts.go, sets answers that would need a long history in Answers, and counts, fails or
// changes calls with Proxy. Only tests import it.
package apitest
