package career

// What the services answer, as far as it is compared. A member that is missing
// from an answer reads as null or zero and shows up as a difference.

// Signal is GET /api/signals/{id}.
type Signal struct {
	ID         string  `json:"id"`
	PublicID   string  `json:"privyId"`
	Callsign   *string `json:"callsign"`
	MarketID   string  `json:"marketId"`
	Direction  string  `json:"direction"`
	Price      *int    `json:"priceAtPrediction"`
	CrowdYes   *int    `json:"crowdYesAtSignal"`
	Confidence *int    `json:"confidence"`
	Take       *string `json:"textTake"`
	Status     string  `json:"status"`
	Score      *int    `json:"score"`
	ResolvedAt *string `json:"resolvedAt"`
	Outcome    *string `json:"outcome"`
	ClosePrice *int    `json:"closePrice"`
	CLV        *int    `json:"clvBps"`
}

// Ledger is GET /api/m/{id}/signals.
type Ledger struct {
	MarketID string        `json:"marketId"`
	Count    int           `json:"count"`
	Yes      *int          `json:"yes"`
	No       *int          `json:"no"`
	Signals  []LedgerEntry `json:"signals"`
}

// LedgerEntry is one call in it; the subject is not masked there.
type LedgerEntry struct {
	ID        string `json:"id"`
	Subject   string `json:"privyId"`
	Direction string `json:"direction"`
	Price     int    `json:"priceAtPrediction"`
	Status    string `json:"status"`
	Score     *int   `json:"score"`
}

// Outcome is GET /api/resolution/outcome.
type Outcome struct {
	MarketID string  `json:"marketId"`
	Record   *Record `json:"outcome"`
}

// Record is the resolution record.
type Record struct {
	Verdict       *string `json:"outcome"`
	Resolver      *string `json:"resolver"`
	Source        *string `json:"source"`
	ResolvedAt    *string `json:"resolvedAt"`
	Disputed      bool    `json:"disputed"`
	DisputeReason *string `json:"disputeReason"`
	DisputedAt    *string `json:"disputedAt"`
}

// ScoreRow is one row of the leaderboard of the api host.
type ScoreRow struct {
	Rank     int     `json:"rank"`
	Subject  string  `json:"privyId"`
	Callsign *string `json:"callsign"`
	Score    int     `json:"score"`
	Total    int     `json:"total"`
	Won      int     `json:"won"`
	Lost     int     `json:"lost"`
	Pending  int     `json:"pending"`
	Accuracy int     `json:"accuracy"`
	Tier     string  `json:"tier"`
	IsAI     bool    `json:"isAi"`
}

// CastRow is one row of the broadcast board of the hub.
type CastRow struct {
	Rank      int    `json:"rank"`
	Handle    string `json:"handle"`
	PublicID  string `json:"operatorPublicId"`
	Tier      string `json:"tier"`
	IsAI      bool   `json:"isAi"`
	Broadcast int    `json:"broadcastScore"`
	Score     int    `json:"score"`
	Accuracy  int    `json:"accuracy"`
	Total     int    `json:"total"`
	Won       int    `json:"won"`
	Lost      int    `json:"lost"`
	Pending   int    `json:"pending"`
}

// Identity is who an operator turned out to be when it signed in.
type Identity struct {
	Subject  string // raw, at the provider
	PublicID string // masked
	Handle   string
	Tier     string
	IsAI     bool
}
