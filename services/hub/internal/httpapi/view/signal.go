package view

import (
	"encoding/json"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
)

// Event is the JSON model of an event of a call.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	Actor     *string         `json:"actor"`
	CreatedAt string          `json:"createdAt"`
}

// ShowEvent returns the JSON model of an event.
func ShowEvent(e *signalv1.Event) Event {
	payload := json.RawMessage(e.GetPayload())
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	return Event{
		ID: e.GetId(), Type: e.GetType(), Payload: payload, Actor: e.Actor, CreatedAt: ledgerclient.Stamp(e.GetCreatedAt()),
	}
}

// WithReceipt adds the receipt URL of the existing call to an already_predicted error. It returns other errors unchanged. hub is
// the public base URL.
func WithReceipt(hub string, err error) error {
	f := apperr.Of(err)
	if id, ok := f.Extra["id"].(string); ok && f.Code == "already_predicted" {
		return f.With("receiptUrl", ReceiptURL(hub, id))
	}
	return err
}

// IsAI reports whether an operator is an AI agent.
func IsAI(o *operatorv1.Operator) bool {
	return protocol.OperatorType(o.GetOperatorType()) == protocol.AIAgent
}

// ReceiptURL returns the URL of the receipt page of a call. hub is the public base URL.
func ReceiptURL(hub, id string) string { return hub + "/receipts/" + id }

// ShowCalls returns the JSON models of calls of one operator. hub is the public base URL.
func ShowCalls(hub string, list []*signalv1.Signal) []openapi.RecordCall {
	out := make([]openapi.RecordCall, 0, len(list))
	for _, c := range list {
		s := ShowSignal(c)
		out = append(out, openapi.RecordCall{
			SignalID: s.ID, MarketID: s.MarketID, MarketTitle: s.MarketTitle, Direction: s.Direction, Status: s.Status,
			PriceAtPrediction: s.PriceAtPrediction, Score: s.Score, CreatedAt: s.CreatedAt,
			ReceiptURL:        ReceiptURL(hub, s.ID),
			MarketYesAtSignal: s.MarketYesAtSignal, ClosesAtSignal: s.ClosesAtSignal, ScoreBasisBps: s.ScoreBasisBps,
			PriceVerified: s.PriceVerified, Rated: s.Rated, Counted: s.Counted, Reason: s.Reason,
			QuoteAt: s.QuoteAt, ConfirmedAt: s.ConfirmedAt,
		})
	}
	return out
}

// ShowEvents returns the JSON models of events.
func ShowEvents(list []*signalv1.Event) []Event {
	out := make([]Event, 0, len(list))
	for _, e := range list {
		out = append(out, ShowEvent(e))
	}
	return out
}

// ReadDraft reads the members of a new call. It reads them in the order of the API description, so that the error names the first
// invalid member. social is the value of the member "source" for the social network.
func ReadDraft(o httpx.Object, social string) *signalv1.Draft {
	return &signalv1.Draft{
		MarketId:         string(request.MarketID(o, "marketId")),
		Direction:        o.Enum("direction", string(protocol.Yes), string(protocol.No)),
		PriceBps:         int32(o.Int("priceAtPrediction", 0, int64(protocol.MaxBps))),
		MarketTitle:      request.OptText(o, "marketTitle", protocol.MaxMarketTitle),
		ChannelId:        request.OptText(o, "channelId", protocol.MaxChannel),
		Confidence:       request.Opt32(o, "confidence", protocol.MinConfidence, protocol.MaxConfidence),
		CrowdYesBps:      request.Opt32(o, "crowdYesAtSignal", 0, int64(protocol.MaxBps)),
		TimeToResolution: request.Opt32(o, "timeToResolution", 0, protocol.MaxTimeToResolution),
		Source:           string(protocol.ParseSource(o.String("source", httpx.BodyLimit, false), social)),
		MediaAssetId:     request.OptText(o, "mediaAssetId", protocol.MaxMediaAsset),
		TextTake:         request.OptProse(o, "textTake", protocol.MaxTake),
		Reach:            o.OptInt("reach", 0, protocol.MaxStatedReach),
		ClobTokenId:      request.OptText(o, "clobTokenId", protocol.MaxToken),
		CrowdLeanBps:     request.Opt32(o, "crowdLeanBps", 0, int64(protocol.MaxBps)),
		MaxSlippageBps:   request.Opt32(o, "maxSlippageBps", 0, int64(protocol.MaxBps)),
		AllowUnverified:  AllowUnverified(o),
	}
}

// AllowUnverified reads the member "allowUnverified"; false if it is absent. The member allows a call with maxSlippageBps on a
// market without a fresh quote.
func AllowUnverified(o httpx.Object) bool { return request.OptFlag(o, "allowUnverified") }

// ShowSignal returns the JSON model of a call.
func ShowSignal(s *signalv1.Signal) openapi.Signal {
	return openapi.Signal{
		ID: s.GetId(), PrivyID: s.GetPublicId(), Callsign: httpx.OrNull(s.GetHandle()),
		MarketID: s.GetMarketId(), MarketTitle: s.GetMarketTitle(),
		Direction: s.GetDirection(), PriceAtPrediction: int64(s.GetPriceBps()),
		CrowdYesAtSignal: openapi.Int(s.CrowdYesBps), Confidence: openapi.Int(s.Confidence), TextTake: s.TextTake,
		Status: s.GetStatus(), Score: openapi.Int(s.Score),
		CreatedAt: ledgerclient.Stamp(s.GetCreatedAt()), ResolvedAt: ledgerclient.StampOrNull(s.GetResolvedAt()),
		TimeToResolution: openapi.Int(s.TimeToResolution), Source: s.Source,
		Outcome: s.Outcome, ClosePrice: openapi.Int(s.ClosePriceBps), ClvBps: openapi.Int(s.ClvBps),
		MarketYesAtSignal: openapi.Int(s.MarketYesBps), ClosesAtSignal: ledgerclient.StampOrNull(s.GetClosesAt()),
		ScoreBasisBps: int64(s.GetScoreBasisBps()),
		PriceVerified: s.GetPriceVerified(), Rated: s.GetRated(), Counted: s.Counted, Reason: httpx.OrNull(s.GetReason()),
		QuoteAt: ledgerclient.StampOrNull(s.GetQuoteAt()), ConfirmedAt: ledgerclient.StampOrNull(s.GetConfirmedAt()),
	}
}

// MarketURL returns the URL of the page of a market. hub is the public base URL.
func MarketURL(hub string, id protocol.MarketID) string { return hub + "/m/" + string(id) }
