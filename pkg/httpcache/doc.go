// Package httpcache caches complete responses of public read requests.
//
// A Page is an immutable response: body, stored gzip, entity tag and header values. A Cache stores a bounded number of pages by
// normalized query. One goroutine at a time rebuilds a page; until it has finished, readers receive the stale page. A Handler
// answers requests for frequently read routes from the cache before the router runs. It passes all other requests to the next
// handler.
//
// A Handler and the handler of the route must use the same Cache: the handler of the route calls Cache.Serve, which builds
// missing pages, and the Handler only reads pages. The package has no rate limits: Handler calls HandlerOptions.Allow before it
// answers.
package httpcache
