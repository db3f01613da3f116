// Package audience counts in Redis who watches a stream. What it holds may be lost:
// viewers ask again every twenty seconds.
package audience
