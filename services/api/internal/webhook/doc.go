// Package webhook is the feed as signed requests to addresses of operators: who
// may have which, what a request says and proves, and when a failed one is tried
// again.
//
// A webhook has one cursor, the number through which everything on its channels
// was taken. One delivery is under way at a time and moves the cursor when it is
// taken; until then it is repeated, the same events under the same id. The package
// sends nothing and stores nothing.
package webhook
