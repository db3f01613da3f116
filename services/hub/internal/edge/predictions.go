package edge

import (
	"crypto/sha256"
	"hash"
	"io"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// filingJSON is the numbers of a call that was filed, or that a dry run would file.
type filingJSON struct {
	PriceAtPrediction int      `json:"priceAtPrediction"`
	ScoreBasisBps     int      `json:"scoreBasisBps"`
	PriceVerified     bool     `json:"priceVerified"`
	Rated             *bool    `json:"rated"` // null: not known, of dry runs only
	MarketYesBps      *int32   `json:"marketYesBps"`
	YesPriceBps       *int32   `json:"yesPriceBps"`
	NoPriceBps        *int32   `json:"noPriceBps"`
	Warnings          []string `json:"warnings"`
}

type filedJSON struct {
	OK         bool   `json:"ok"`
	ID         string `json:"id"`
	ReceiptURL string `json:"receiptUrl"`
	filingJSON
}

type dryFiledJSON struct {
	OK     bool `json:"ok"`
	DryRun bool `json:"dryRun"`
	filingJSON
}

// showFiling shows the numbers of a call. unconfirmed states that no venue has confirmed the market
// of a dry run: then rated is null, because only the answer of the venue can tell.
func showFiling(f *signalv1.Filing, unconfirmed bool) filingJSON {
	out := filingJSON{
		PriceAtPrediction: int(f.GetPriceBps()), ScoreBasisBps: int(f.GetScoreBasisBps()), PriceVerified: f.GetPriceVerified(),
		Warnings: append([]string{}, f.GetWarnings()...),
	}
	if f != nil {
		out.MarketYesBps, out.YesPriceBps, out.NoPriceBps = f.MarketYesBps, f.YesPriceBps, f.NoPriceBps
	}
	if !unconfirmed {
		rated := f.GetRated()
		out.Rated = &rated
	}
	return out
}

func (s *server) showFiled(id string, f *signalv1.Filing) filedJSON {
	return filedJSON{OK: true, ID: id, ReceiptURL: s.receiptURL(id), filingJSON: showFiling(f, false)}
}

var errIdempotencyKey = fault.New(fault.Invalid, "invalid_idempotency_key",
	"Idempotency-Key must be 1 to 128 visible ASCII characters").With("field", "Idempotency-Key")

// file is POST /api/predictions.
func (s *server) file(c echo.Context) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	var sum hash.Hash
	if key != "" {
		sum = hashBody(c)
	}
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	draft := s.readDraft(o)
	dry := dryRunOf(c, o)
	if err := o.Err(); err != nil {
		return err
	}
	ctx, by := c.Request().Context(), callerOf(c).Actor()
	if dry {
		would, err := s.Signals.RehearseFile(ctx, by, draft)
		if err != nil {
			return s.explain(err, draft)
		}
		return web.OK(c, dryFiledJSON{OK: true, DryRun: true, filingJSON: showFiling(would.GetFiling(), would.GetSignal().GetUnconfirmed())})
	}
	if key != "" {
		draft.IdempotencyKey, draft.BodyHash = &key, sum.Sum(nil)
	}
	filed, err := s.Signals.File(ctx, by, draft)
	if err != nil {
		return s.explain(err, draft)
	}
	return web.OK(c, s.showFiled(filed.GetId(), filed.GetFiling()))
}

// dryRunOf returns the member dryRun of a request. It refuses one in the query, where it would be
// ignored.
func dryRunOf(c echo.Context, o web.Object) bool {
	for name := range c.QueryParams() {
		if isDryRun(name) {
			o.Invalid("dryRun", "must be a member of the body")
		}
	}
	return dryRun(o)
}

// dryRun returns the member dryRun. It refuses null and other spellings of the name. Other members
// ignore both, but here the call would be stored although the caller asked for a check.
func dryRun(o web.Object) bool {
	for _, name := range o.Names() {
		switch {
		case name == "dryRun" && !o.Has(name):
			o.Invalid("dryRun", "must be true or false, not null")
		case name != "dryRun" && isDryRun(name):
			o.Invalid("dryRun", "must be spelled dryRun")
		}
	}
	return optFlag(o, "dryRun")
}

func isDryRun(name string) bool { return strings.EqualFold(wordMarks.Replace(name), "dryRun") }

// wordMarks removes what separates words in the name of a member.
var wordMarks = strings.NewReplacer("_", "", "-", "", " ", "")

// allowUnverified reads whether maxSlippageBps accepts a call on a market without a fresh quote.
func allowUnverified(o web.Object) bool { return optFlag(o, "allowUnverified") }

// optFlag reads an optional boolean; false when it is absent or null.
func optFlag(o web.Object, name string) bool {
	v := o.OptBool(name)
	return v != nil && *v
}

// readDraft reads the members in the order of the specification's table, so
// that the first mistake is the one that a reader of the table meets first.
func (s *server) readDraft(o web.Object) *signalv1.Draft {
	return &signalv1.Draft{
		MarketId:         string(readMarketID(o, "marketId")),
		Direction:        o.Enum("direction", string(syntax.Yes), string(syntax.No)),
		PriceBps:         int32(o.Int("priceAtPrediction", 0, int64(syntax.MaxBps))),
		MarketTitle:      optText(o, "marketTitle", syntax.MaxMarketTitle),
		ChannelId:        optText(o, "channelId", syntax.MaxChannel),
		Confidence:       opt32(o, "confidence", syntax.MinConfidence, syntax.MaxConfidence),
		CrowdYesBps:      opt32(o, "crowdYesAtSignal", 0, int64(syntax.MaxBps)),
		TimeToResolution: opt32(o, "timeToResolution", 0, syntax.MaxTimeToResolution),
		Source:           string(syntax.ParseSource(o.String("source", web.BodyLimit, false), s.Social)),
		MediaAssetId:     optText(o, "mediaAssetId", syntax.MaxMediaAsset),
		TextTake:         optProse(o, "textTake", syntax.MaxTake),
		Reach:            o.OptInt("reach", 0, syntax.MaxStatedReach),
		ClobTokenId:      optText(o, "clobTokenId", syntax.MaxToken),
		CrowdLeanBps:     opt32(o, "crowdLeanBps", 0, int64(syntax.MaxBps)),
		MaxSlippageBps:   opt32(o, "maxSlippageBps", 0, int64(syntax.MaxBps)),
		AllowUnverified:  allowUnverified(o),
	}
}

// explain adds the receipt of the locked call to already_predicted, and the market to
// market_closed and market_not_found.
func (s *server) explain(err error, d *signalv1.Draft) error {
	f := fault.Of(err)
	switch f.Code {
	case "already_predicted":
		if id, ok := f.Extra["id"].(string); ok {
			return f.With("receiptUrl", s.receiptURL(id))
		}
	case "market_closed", "market_not_found":
		return f.With("marketId", d.GetMarketId())
	}
	return err
}

// idempotencyKey reads the optional header; empty when it is not there.
func idempotencyKey(c echo.Context) (string, error) {
	values, ok := c.Request().Header["Idempotency-Key"]
	if !ok {
		return "", nil
	}
	if len(values) != 1 || values[0] == "" || len(values[0]) > syntax.MaxIdempotencyKey {
		return "", errIdempotencyKey
	}
	for i := range len(values[0]) {
		if b := values[0][i]; b <= ' ' || b > '~' {
			return "", errIdempotencyKey
		}
	}
	return values[0], nil
}

// hashBody makes the body pass through a SHA-256 while it is read.
func hashBody(c echo.Context) hash.Hash {
	sum := sha256.New()
	r := c.Request()
	r.Body = hashed{io.TeeReader(r.Body, sum), r.Body}
	return sum
}

type hashed struct {
	io.Reader
	io.Closer
}

func readMarketID(o web.Object, name string) syntax.MarketID {
	raw := o.String(name, web.BodyLimit, true)
	if raw == "" {
		return ""
	}
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		o.Invalid(name, "has no known form")
	}
	return id
}

// optText reads optional text on one line; nil where it is empty.
func optText(o web.Object, name string, limit int) *string {
	return orNull(o.Text(name, limit, false, false))
}

// optProse reads optional text that may have line feeds; nil where it is empty.
func optProse(o web.Object, name string, limit int) *string {
	return orNull(o.Text(name, limit, true, false))
}

func opt32(o web.Object, name string, low, high int64) *int32 {
	n := o.OptInt(name, low, high)
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}
