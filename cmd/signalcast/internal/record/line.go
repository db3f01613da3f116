package record

import (
	"encoding/json"
	"time"

	"github.com/signalcast/signalcast/proto/openapi"
)

// head is the first line of a record. It describes the operator and the settings of the service.
type head struct {
	Version      string      `json:"version"`
	Source       string      `json:"source"`
	Handle       string      `json:"handle"`
	OperatorID   string      `json:"operatorPublicId"`
	OperatorType string      `json:"operatorType"`
	Tier         string      `json:"tier"`
	AsOf         time.Time   `json:"asOf"`
	Tolerances   []tolerance `json:"priceTolerances"`
	ConfirmAfter int64       `json:"quoteConfirmAfterMs"` // 0 means that second quotes are off
}

// call is a line of type call. It omits the members that the package neither checks nor needs for a computation.
type call struct {
	N               int64       `json:"n"`
	ID              string      `json:"id"`
	MarketID        string      `json:"marketId"`
	Lane            string      `json:"lane"`
	Direction       string      `json:"direction"`
	Price           int         `json:"priceAtPrediction"`
	Filing          int         `json:"filingBasisBps"`
	Basis           int         `json:"scoreBasisBps"`
	Verified        bool        `json:"priceVerified"`
	Rated           bool        `json:"rated"`
	Counted         *bool       `json:"counted"`
	Reason          *string     `json:"reason"`
	Own             bool        `json:"ownMarket"`
	MarketYes       *int        `json:"marketYesAtSignal"`
	InitialYes      *int        `json:"initialYesBps"`
	QuoteAt         *time.Time  `json:"quoteAt"`
	ConfirmedAt     *time.Time  `json:"confirmedAt"`
	Quote           *quote      `json:"quote"`
	SecondQuote     *quote      `json:"secondQuote"`
	Crowd           *int        `json:"crowdYesAtSignal"`
	Confidence      *int        `json:"confidence"`
	TimeLeft        *int        `json:"timeToResolution"`
	CreatedAt       time.Time   `json:"createdAt"`
	Status          string      `json:"status"`
	Scoring         bool        `json:"scoring"`
	Score           *int        `json:"score"`
	Outcome         *string     `json:"outcome"`
	ClosePrice      *int        `json:"closePrice"`
	Clv             *int        `json:"clvBps"`
	ResolvedAt      *time.Time  `json:"resolvedAt"`
	ScoringVersion  *string     `json:"scoringVersion"`
	ScoringVertical *string     `json:"scoringVertical"`
	Moment          *string     `json:"moment"`
	Resolution      *resolution `json:"resolution"`
	Events          []event     `json:"events"`
}

type resolution struct {
	Outcome    string    `json:"outcome"`
	Resolver   string    `json:"resolver"`
	Source     *string   `json:"source"`
	ProofURL   *string   `json:"proofUrl"`
	CloseAt    time.Time `json:"closeAt"`
	ClosePrice *int      `json:"closePrice"`
	ResolvedAt time.Time `json:"resolvedAt"`
	Disputed   bool      `json:"disputed"`
	Rated      bool      `json:"rated"`
}

type event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	CreatedAt time.Time       `json:"createdAt"`
}

// resolvedEvent is the payload of an event of type resolved. It repeats members of the call.
type resolvedEvent struct {
	Outcome         string  `json:"outcome"`
	Status          string  `json:"status"`
	Score           *int    `json:"score"`
	ClosePrice      *int    `json:"closePrice"`
	Clv             *int    `json:"clvBps"`
	Resolver        string  `json:"resolver"`
	Source          *string `json:"source"`
	ProofURL        *string `json:"proofUrl"`
	ScoringVersion  *string `json:"scoringVersion"`
	ScoringVertical *string `json:"scoringVertical"`
	Basis           *int    `json:"scoreBasisBps"`
	Counted         *bool   `json:"counted"`
	Reason          *string `json:"reason"`
}

// end is the last line of a record, with the totals of all calls.
type end struct {
	Complete bool    `json:"complete"`
	Calls    int64   `json:"calls"`
	Events   int64   `json:"events"`
	SHA256   string  `json:"sha256"`
	Numbers  numbers `json:"numbers"`
	Edge     *edge   `json:"edge"`
	// Checkpoint is the newest signed checkpoint of the journal of the ledger (docs/operations.md, The journal of the record).
	Checkpoint *string `json:"checkpoint"`
}

type numbers struct {
	Total    int64            `json:"total"`
	Won      int64            `json:"won"`
	Lost     int64            `json:"lost"`
	Void     int64            `json:"void"`
	Pending  int64            `json:"pending"`
	Resolved int64            `json:"resolved"`
	Accuracy int64            `json:"accuracy"`
	Score    int64            `json:"score"`
	Streak   int64            `json:"streak"`
	AvgClv   *int64           `json:"avgClvBps"`
	Moments  map[string]int64 `json:"moments"`
}

// edge contains the statistics of the whole record: a version, and the members of GET /api/operator/{handle}/skill.
type edge struct {
	Version string `json:"version"`
	openapi.SkillReport
}
