package feed

// Query asks for a page of the feed. Empty members do not filter.
type Query struct {
	Types     []Type
	Lane      string
	Providers []string
	Handle    string
	Topic     string // of segment events, only those of this channel of a programme
	Limit     int
	Forward   bool  // oldest first, behind From; else newest first, below From
	From      int64 // 0 with Forward false: from the newest
}

// Page is an answer to a Query. More tells that the feed goes on behind Next in
// the same direction; a page may be short and still have more, because a page
// looks at a bounded stretch of the feed.
type Page struct {
	Events []Event
	More   bool
	Next   int64 // the From of the next page

	// Of a forward page: the newest number, and the oldest that is kept where some
	// behind From are not; else 0.
	Head, Oldest int64
}

// Drained tells what one step did to a market whose results are being numbered.
type Drained struct {
	MarketID string // empty: no market waits
	Numbered int    // events: results and their moments
	Ended    bool   // nothing of the market is left
	Blocked  bool   // the next signal has no result yet
}
