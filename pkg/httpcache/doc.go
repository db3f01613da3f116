// Package httpcache keeps ready-made answers of public reads.
//
// A Page is one immutable value: body, stored gzip, entity tag and header
// values. A Book holds a bounded number of them by normalised query, rebuilds
// each by one goroutine at a time and lets no reader wait for a rebuild as
// long as an older page may be shown. A Front answers hits of hot routes as a
// plain http.Handler before the router runs; everything else goes on to the
// next handler.
//
// Two doors, one book: the route's handler calls Book.Serve, which builds what
// is missing; the Front only ever looks. The package knows no domain word and
// no limit: a Front asks a function whether a caller may be answered.
package httpcache
