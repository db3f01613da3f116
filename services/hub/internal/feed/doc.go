// Package feed is the numbered record of what happened, as the hub's pages read it. It
// knows nothing of where the record is kept.
package feed
