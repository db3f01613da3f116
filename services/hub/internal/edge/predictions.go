package edge

import (
	"crypto/sha256"
	"hash"
	"io"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/teeth"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type filedJSON struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
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
	if err := o.Err(); err != nil {
		return err
	}
	if key != "" {
		draft.IdempotencyKey, draft.BodyHash = key, sum.Sum(nil)
	}
	id, err := s.signals.File(c.Request().Context(), callerOf(c).Actor(), draft)
	if err != nil {
		return s.explain(err, draft)
	}
	return web.OK(c, filedJSON{OK: true, ID: id})
}

// readDraft reads the members in the order of the specification's table, so
// that the first mistake is the one that a reader of the table meets first.
func (s *server) readDraft(o web.Object) signal.Draft {
	return signal.Draft{
		MarketID:         readMarketID(o, "marketId"),
		Direction:        syntax.Side(o.Enum("direction", string(syntax.Yes), string(syntax.No))),
		Price:            syntax.Bps(o.Int("priceAtPrediction", 0, int64(syntax.MaxBps))),
		MarketTitle:      optText(o, "marketTitle", signal.MaxTitle),
		ChannelID:        optText(o, "channelId", signal.MaxChannel),
		Confidence:       opt32(o, "confidence", signal.MinConfidence, signal.MaxConfidence),
		CrowdYes:         opt32(o, "crowdYesAtSignal", 0, int64(syntax.MaxBps)),
		TimeToResolution: opt32(o, "timeToResolution", 0, signal.MaxTimeToResolution),
		Source:           syntax.ParseSource(o.String("source", web.BodyLimit, false), s.social),
		MediaAssetID:     optText(o, "mediaAssetId", signal.MaxMediaAsset),
		TextTake:         optText(o, "textTake", signal.MaxTake),
		Reach:            o.OptInt("reach", 0, signal.MaxReach),
		ClobTokenID:      optText(o, "clobTokenId", signal.MaxToken),
		CrowdLean:        opt32(o, "crowdLeanBps", 0, int64(syntax.MaxBps)),
	}
}

// explain adds to a refusal what a client needs to go on: the receipt of the
// call that stands, or the market that is closed or unknown.
func (s *server) explain(err error, d signal.Draft) error {
	f := fault.Of(err)
	switch f.Code {
	case "already_predicted":
		if id, ok := f.Extra["id"].(string); ok {
			return f.With("receiptUrl", s.hubURL+"/receipts/"+id)
		}
	case "market_closed", "market_not_found":
		return f.With("marketId", string(d.MarketID))
	}
	return err
}

// idempotencyKey reads the optional header; empty when it is not there.
func idempotencyKey(c echo.Context) (string, error) {
	values, ok := c.Request().Header["Idempotency-Key"]
	if !ok || teeth.Bites("A10") {
		return "", nil
	}
	if len(values) != 1 || values[0] == "" || len(values[0]) > signal.MaxIdempotencyKey {
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

// optText reads optional text; empty text says as little as none.
func optText(o web.Object, name string, limit int) *string {
	s := o.OptString(name, limit)
	if s == nil || *s == "" {
		return nil
	}
	return s
}

func opt32(o web.Object, name string, low, high int64) *int32 {
	n := o.OptInt(name, low, high)
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}
