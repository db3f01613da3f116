package reads

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/export"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// recordVersion is the version of the record format. Within a version, members may be added but not changed or removed.
const recordVersion = "2"

// recordHeadJSON is the first line of a record. It describes the operator and the price rules.
type recordHeadJSON struct {
	Type             string          `json:"type"` // always "record"
	Version          string          `json:"version"`
	Source           string          `json:"source"`
	Handle           string          `json:"handle"`
	OperatorPublicID string          `json:"operatorPublicId"`
	DisplayName      string          `json:"displayName"`
	OperatorType     string          `json:"operatorType"`
	Tier             string          `json:"tier"`
	AsOf             string          `json:"asOf"`
	PriceTolerances  []toleranceJSON `json:"priceTolerances"`
	ConfirmAfterMs   int64           `json:"quoteConfirmAfterMs"` // delay of the second quote in milliseconds; 0: no second quotes
}

// toleranceJSON is the maximum difference between market price and stated price in bps. It is valid from the time Since on.
type toleranceJSON struct {
	Since string `json:"since"`
	Bps   int32  `json:"bps"`
}

// recordCallJSON is a line with one call and all data that the ledger stores with the call. privyId and callsign are left out,
// because the first line names the operator.
type recordCallJSON struct {
	Type string `json:"type"` // always "call"
	N    int64  `json:"n"`    // number of the call in the record, from 1
	openapi.Signal
	PrivyID  *string `json:"privyId,omitempty"`  // always nil: hides the member of Signal
	Callsign *string `json:"callsign,omitempty"` // always nil: hides the member of Signal

	Lane            string          `json:"lane"`
	FilingBasisBps  int64           `json:"filingBasisBps"`
	Quote           *quoteJSON      `json:"quote"`
	SecondQuote     *quoteJSON      `json:"secondQuote"`
	InitialYesBps   *int64          `json:"initialYesBps"`
	OwnMarket       bool            `json:"ownMarket"`
	Scoring         bool            `json:"scoring"` // the market is resolved, but the call is not scored yet
	ScoringVersion  *string         `json:"scoringVersion"`
	ScoringVertical *string         `json:"scoringVertical"`
	Moment          *string         `json:"moment"`
	Resolution      *provenanceJSON `json:"resolution"`
	Events          []view.Event    `json:"events"`
}

type quoteJSON struct {
	YesPriceBps int32   `json:"yesPriceBps"`
	NoPriceBps  int32   `json:"noPriceBps"`
	At          string  `json:"at"`
	Rule        string  `json:"rule"`
	SHA256      *string `json:"sha256"` // null: the quote came from a stream
}

type provenanceJSON struct {
	Outcome    string  `json:"outcome"`
	Resolver   string  `json:"resolver"`
	Source     *string `json:"source"`
	ProofURL   *string `json:"proofUrl"`
	CloseAt    string  `json:"closeAt"`
	ClosePrice *int32  `json:"closePrice"`
	ResolvedAt string  `json:"resolvedAt"`
	Disputed   bool    `json:"disputed"`
	Rated      bool    `json:"rated"`
	DecidedAt  *string `json:"decidedAt"`
}

// recordEndJSON is the last line of a record. A record without it is incomplete.
type recordEndJSON struct {
	Type       string            `json:"type"` // always "end"
	Complete   bool              `json:"complete"`
	Calls      int64             `json:"calls"`
	Events     int64             `json:"events"`
	SHA256     string            `json:"sha256"` // hex SHA-256 of all bytes before this line
	Numbers    recordNumbersJSON `json:"numbers"`
	Edge       *recordEdgeJSON   `json:"edge"`
	Checkpoint *string           `json:"checkpoint"`
}

type recordNumbersJSON struct {
	Total     int64            `json:"total"`
	Won       int64            `json:"won"`
	Lost      int64            `json:"lost"`
	Void      int64            `json:"void"`
	Pending   int64            `json:"pending"`
	Resolved  int64            `json:"resolved"`
	Accuracy  int64            `json:"accuracy"`
	Score     int64            `json:"score"`
	Streak    int64            `json:"streak"`
	AvgClvBps *int64           `json:"avgClvBps"`
	Moments   map[string]int64 `json:"moments"`
}

// recordEdgeJSON is the skill report of the whole record, which docs/method.md explains.
type recordEdgeJSON struct {
	Version string `json:"version"`
	openapi.SkillReport
}

// jsonLines formats a record as JSON lines: one JSON object per line.
type jsonLines struct {
	source string
	tally  export.Tally
	sum    hash.Hash
}

func newJSONLines(source string) *jsonLines { return &jsonLines{source: source, sum: sha256.New()} }

func (l *jsonLines) head(b *bytes.Buffer, o *exportv1.RecordHead) error {
	tolerances := view.List(o.GetPriceTolerances(), func(t *exportv1.PriceTolerance) toleranceJSON {
		return toleranceJSON{ledgerclient.Stamp(t.GetSince()), t.GetBps()}
	})
	return l.writeLine(b, recordHeadJSON{
		Type: "record", Version: recordVersion, Source: l.source, Handle: o.GetHandle(), OperatorPublicID: o.GetPublicId(),
		DisplayName: o.GetDisplayName(), OperatorType: o.GetOperatorType(), Tier: o.GetTier(),
		AsOf:            ledgerclient.Stamp(o.GetAsOf()),
		PriceTolerances: tolerances, ConfirmAfterMs: o.GetConfirmAfterMs(),
	})
}

func (l *jsonLines) call(b *bytes.Buffer, c *exportv1.Call) error {
	if err := l.tally.Add(c); err != nil {
		return err
	}
	return l.writeLine(b, showCall(l.tally.Total, c))
}

func (l *jsonLines) end(b *bytes.Buffer, e *exportv1.RecordEnd) error {
	t := &l.tally
	out := recordEndJSON{
		Type: "end", Complete: t.Total == e.GetCalls() && t.Events == e.GetEvents(), Calls: t.Total, Events: t.Events,
		SHA256: hex.EncodeToString(l.sum.Sum(nil)), Numbers: showNumbers(t), Edge: showEdgeReport(t.Edge()),
		Checkpoint: httpx.OrNull(e.GetCheckpoint()),
	}
	return l.writeLine(b, out)
}

// writeLine writes v as one line and adds the line to the hash of the record.
func (l *jsonLines) writeLine(b *bytes.Buffer, v any) error {
	text, err := httpx.Marshal(v)
	if err != nil {
		return err
	}
	text = append(bytes.TrimRight(text, "\n"), '\n')
	l.sum.Write(text)
	b.Write(text)
	return nil
}

func showCall(n int64, c *exportv1.Call) recordCallJSON {
	out := recordCallJSON{
		Type: "call", N: n, Signal: view.ShowSignal(c.GetSignal()), Lane: c.GetSignal().GetLane(),
		FilingBasisBps: int64(c.GetFilingBasisBps()), InitialYesBps: openapi.Int(c.InitialYesBps),
		Quote: showQuote(c.GetQuote()), SecondQuote: showQuote(c.GetSecondQuote()),
		OwnMarket: c.GetOwnMarket(), Scoring: export.Scoring(c),
		ScoringVersion: httpx.OrNull(c.GetScoringVersion()), ScoringVertical: httpx.OrNull(c.GetScoringVertical()),
		Moment: httpx.OrNull(export.Moment(c)), Events: view.ShowEvents(c.GetEvents()),
	}
	if r := c.GetResolution(); r != nil {
		out.Resolution = &provenanceJSON{
			Outcome: r.GetOutcome(), Resolver: r.GetResolver(), Source: httpx.OrNull(r.GetSource()),
			ProofURL: httpx.OrNull(r.GetProofUrl()),
			CloseAt:  ledgerclient.Stamp(r.GetCloseAt()), ClosePrice: r.ClosePriceBps,
			ResolvedAt: ledgerclient.Stamp(r.GetResolvedAt()),
			Disputed:   r.GetDisputed(), Rated: r.GetRated(), DecidedAt: ledgerclient.StampOrNull(r.GetDecidedAt()),
		}
	}
	return out
}

func showQuote(q *exportv1.Quote) *quoteJSON {
	if q == nil {
		return nil
	}
	return &quoteJSON{
		YesPriceBps: q.GetYesPriceBps(), NoPriceBps: q.GetNoPriceBps(), At: ledgerclient.Stamp(q.GetAt()), Rule: q.GetRule(),
		SHA256: httpx.OrNull(hex.EncodeToString(q.GetSha256())),
	}
}

func showNumbers(t *export.Tally) recordNumbersJSON {
	out := recordNumbersJSON{
		Total: t.Total, Won: t.Won, Lost: t.Lost, Void: t.Void, Pending: t.Pending, Resolved: t.Resolved(),
		Accuracy: t.Accuracy(),
		Score:    t.Score, Streak: t.Streak(), AvgClvBps: t.AvgClv(), Moments: map[string]int64{},
	}
	for _, m := range export.Moments {
		out.Moments[m.Tier] = t.Moments[m.Tier]
	}
	return out
}

func showEdgeReport(r *export.Edge) *recordEdgeJSON {
	if r == nil {
		return nil
	}
	return &recordEdgeJSON{export.EdgeVersion, showReport(r)}
}
