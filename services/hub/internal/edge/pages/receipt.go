package pages

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/resolution"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type receiptPage struct {
	frame
	ID, MarketID, MarketTitle string
	Side, SideClass, Price    string
	Status, StatusWord        string
	Settled                   bool
	Score, ScoreWord          string
	Upside, Downside          string // of an open call
	AtMost                    string // before both, while the scoring price can still rise
	Stated, NoPoints          string
	Take                      string
	Handle, PublicID          string
	Filed, FiledISO           string
	Crowd, Confidence         string
	Close, CLV, Outcome       string
	Resolved, Resolver        string
	ProofURL, Disputed        string
	Bars                      []bar
	BarsWidth                 int
	Events                    []receiptEvent
}

type receiptEvent struct {
	Word, Text, Link string
	At, AtISO        string
}

// receipt is GET /receipts/{id}.
func (s *site) receipt(c echo.Context) error {
	if wantsJSON(c.Request()) {
		return s.ReceiptJSON(c)
	}
	id := strings.ToLower(c.Param("id"))
	if _, err := uuid.Parse(id); err != nil || len(id) != 36 {
		return signal.ErrUnknown
	}
	ctx := c.Request().Context()
	sig, err := s.Signals.Signal(ctx, id)
	if err != nil {
		return err
	}
	events, err := s.Signals.Events(ctx, id)
	if err != nil {
		return err
	}
	p := s.receiptOf(c, sig)
	p.Unlisted = sig.Unconfirmed
	p.settle(sig, s.outcome(ctx, sig.MarketID))
	for _, e := range events {
		if e.Type != signal.Resolved {
			p.Events = append(p.Events, eventOf(e))
		}
	}
	return s.render(c, http.StatusOK, "receipt", p)
}

func (s *site) receiptOf(c echo.Context, sig signal.Signal) receiptPage {
	who := callerOf(&sig)
	price := cents(int(sig.ScoreBasis))
	won, lost := sig.Points()
	p := receiptPage{
		frame: s.frame(c, string(sig.Direction)+" at "+price+": "+sig.MarketTitle,
			who+" called "+string(sig.Direction)+" at "+price+", locked "+when(sig.CreatedAt)+".", "/receipts/"+sig.ID),
		ID: sig.ID, MarketID: string(sig.MarketID), MarketTitle: sig.MarketTitle,
		Side: string(sig.Direction), SideClass: sideClass(sig.Direction), Price: price,
		Status: string(sig.Status), StatusWord: statusWord(sig.Status), Settled: sig.Status != syntax.Pending,
		Upside: signed(won), Downside: signed(lost), NoPoints: sig.NoPoints(),
		Handle: sig.Handle, PublicID: string(sig.PublicID),
		Filed: when(sig.CreatedAt), FiledISO: syntax.Stamp(sig.CreatedAt),
	}
	p.shared(s.HubURL, "signal", sig.ID)
	p.Bars, p.BarsWidth = bars(sig.ID)
	if sig.Price != sig.ScoreBasis {
		p.Stated = cents(int(sig.Price))
	}
	if !sig.PriceFinal() {
		p.AtMost = "at most "
	}
	if sig.TextTake != nil {
		p.Take = *sig.TextTake
	}
	if sig.MarketYes != nil {
		p.Crowd = percent(*sig.MarketYes)
	}
	if sig.Confidence != nil {
		p.Confidence = strconv.Itoa(int(*sig.Confidence))
	}
	return p
}

// settle adds what came of the call.
func (p *receiptPage) settle(sig signal.Signal, o *resolution.Outcome) {
	if sig.Score != nil {
		p.Score, p.ScoreWord = signed(int(*sig.Score)), "points"
	}
	if sig.ClosePrice != nil {
		p.Close = percent(*sig.ClosePrice)
	}
	if sig.Clv != nil {
		p.CLV = signed(int(*sig.Clv)) + " bps for this call"
	}
	if !sig.ResolvedAt.IsZero() {
		p.Resolved = when(sig.ResolvedAt)
	}
	if o == nil {
		return
	}
	if o.Outcome != nil {
		p.Outcome = *o.Outcome
	}
	p.Resolver, p.ProofURL, p.Disputed = by(o), proof(o), dispute(o)
}

// by names the resolver and where it read the outcome.
func by(o *resolution.Outcome) string {
	if o.Resolver == nil {
		return ""
	}
	if o.Source != nil && *o.Source != *o.Resolver {
		return *o.Resolver + ", " + *o.Source
	}
	return *o.Resolver
}

// proof is a link only when it is an https address.
func proof(o *resolution.Outcome) string {
	if o.ProofURL == nil {
		return ""
	}
	if u, err := url.Parse(*o.ProofURL); err != nil || u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return *o.ProofURL
}

func dispute(o *resolution.Outcome) string {
	switch {
	case !o.Disputed:
		return ""
	case o.DisputeReason == nil:
		return "the outcome is under review"
	}
	return *o.DisputeReason
}

var eventWords = map[signal.EventType]string{
	signal.Take: "Take", signal.Reaffirm: "Stands by it", signal.Confidence: "Confidence", signal.Note: "Note", signal.Share: "Shared",
}

func eventOf(e signal.Event) receiptEvent {
	var payload struct {
		Text       string `json:"text"`
		URL        string `json:"url"`
		Channel    string `json:"channel"`
		Confidence *int   `json:"confidence"`
	}
	// A payload that cannot be read shows as the bare event.
	_ = json.Unmarshal(e.Payload, &payload)
	out := receiptEvent{Word: eventWords[e.Type], Text: payload.Text, Link: payload.URL, At: when(e.CreatedAt), AtISO: syntax.Stamp(e.CreatedAt)}
	switch {
	case e.Type == signal.Confidence && payload.Confidence != nil:
		out.Text = strconv.Itoa(*payload.Confidence) + " of 100"
	case e.Type == signal.Share && payload.Channel != "":
		out.Text = payload.Channel
	}
	return out
}
