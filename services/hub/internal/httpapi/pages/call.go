package pages

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// callForm is the form that files a call, as the visitor sent it, and the reason why it was not filed.
type callForm struct {
	Side, Price, Confidence, Take, Key string
	WithoutPoints                      bool // file although the price cannot be checked
	err                                error
}

// callPanel is the part of a market page where the visitor files a call. Without Sides, it shows only its texts.
type callPanel struct {
	Action              string
	Sides               []callSide // the sides YES and NO
	Prices              string     // prices that the form shows, in bps: that of YES, a comma, that of NO
	Confidence, Take    string
	MaxTake             int
	Key                 string // empty without a session: such a form files nothing
	Button              string
	Unrated, Unverified bool
	Asked               bool   // the venue asks more than the market price for the sides
	Alert, AlertField   string // error text, and the id of the field that has the error
	Why, Again          string // why the market takes no call, and the address at which it may take one soon
	Closed              bool   // the account of the visitor is closed
	Own                 *ownCall
}

// callSide is a side that the visitor can choose. Old is the price that the visitor saw before it moved.
type callSide struct {
	Value, Name, Class, Price, Old string
	Stake                          string // points by outcome
	Other                          string // name of the other side; empty on an unrated market
	Capped                         bool   // a second quote can raise the scoring price
	Checked                        bool
}

// ownCall is the call of the visitor on a market.
type ownCall struct {
	ID, Side, SideClass, Price, At, AtISO string
	Now, Change, Trend                    string // price of the side, and its change since the call; empty: unknown
	Points                                string // change of the price in points; empty: unknown
	Result                                string // empty while the call is open
	Update                                *eventPanel
}

// newCall returns the form that the visitor filled before the sign-in, or else an empty one. The query parameter side chooses its
// side.
func (s *server) newCall(c echo.Context, id protocol.MarketID) callForm {
	form := callFormOf(s.Draft(c, site.MarketPath+string(id)))
	form.Side = cmp.Or(c.QueryParam("side"), form.Side)
	return form
}

func callFormOf(form url.Values) callForm {
	return callForm{
		Side: form.Get("direction"), Price: form.Get("price"), Confidence: strings.TrimSpace(form.Get("confidence")),
		Take: form.Get("take"), Key: form.Get("idempotencyKey"), WithoutPoints: form.Get("withoutPoints") == "yes",
	}
}

// typed returns the values that wait for a sign-in.
func (f callForm) typed() url.Values {
	return url.Values{"direction": {f.Side}, "confidence": {f.Confidence}, "take": {f.Take}}
}

// stated returns the price of the chosen side that the visitor saw, in bps. The field is one price, or the prices of YES and NO
// separated by a comma.
func (f callForm) stated() (int, bool) {
	text := f.Price
	if yes, no, two := strings.Cut(f.Price, ","); two {
		if text = yes; f.Side == string(protocol.No) {
			text = no
		}
	}
	bps, err := strconv.Atoi(text)
	return bps, err == nil
}

// members returns the members of the call, as in the body of POST /api/predictions.
func (f callForm) members(id protocol.MarketID) map[string]any {
	out := map[string]any{"marketId": string(id), "direction": f.Side, "source": string(protocol.SourceWeb)}
	if bps, ok := f.stated(); ok {
		out["priceAtPrediction"] = bps
	}
	if f.Confidence != "" {
		out["confidence"] = numberOrText(f.Confidence)
	}
	if strings.TrimSpace(f.Take) != "" {
		out["textTake"] = f.Take
	}
	if f.WithoutPoints {
		out["allowUnverified"] = true
	}
	return out
}

const maxFormKey = 64 // maximum length of the key of a form

// fileCall handles POST /m/{marketId}/call, which files the call of a form and redirects to its receipt. If the call is not
// filed, it shows the page of the market with the reason and with the values of the form.
func (s *server) fileCall(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	v, values, err := s.ReadForm(c)
	form := callFormOf(values)
	switch {
	case values == nil:
		return err
	case errors.Is(v.Err, site.ErrSignedOut):
		if _, err := s.SaveDraft(c, site.MarketPath+string(id), form.typed()); err != nil {
			return err
		}
		// A policy for form targets also applies to redirects, so the form cannot lead to the identity provider.
		return site.Redirect(c, site.SignInURL(callPath(id, form.Side)))
	case err != nil:
	case !isFormKey(form.Key):
		err = site.ErrForm
	default:
		var filed string
		if filed, err = s.FileCall(c.Request().Context(), operator.ID(v.Session.UserID), form.members(id), form.Key); err == nil {
			return s.Finish(c, site.ReceiptPath+filed)
		}
	}
	form.err = err
	return s.showMarket(c, httpx.Status(apperr.Of(err).Kind), id, form)
}

// callPath returns the path of the page of a market on which a side is chosen.
func callPath(id protocol.MarketID, side string) string {
	path := site.MarketPath + string(id)
	if _, ok := protocol.ParseSide(side); !ok {
		return path
	}
	return path + "?side=" + side + "#call"
}

// callPanelOf returns the panel of the page of a market. own is the call of the visitor, if there is one.
func (s *server) callPanelOf(
	c echo.Context, m *marketv1.Market, page *marketPage, v site.Viewer, own *signalv1.Signal, form callForm,
) callPanel {
	p := callPanel{Action: site.MarketPath + m.GetId() + "/call"}
	p.setAlert(m, form)
	yes, no, priced := callPrices(m)
	switch {
	case own != nil:
		p.Own = ownCallOf(m, own)
		if v.DeletesOn() == "" {
			p.Own.Update = s.eventPanelOf(c, own, eventForm{})
		}
		return p
	case page.Status.Class != "open":
		p.Why = whyNoCalls(m, page.Status, page.Outcome)
		return p
	case v.DeletesOn() != "":
		p.Why, p.Closed = "Your account will be deleted on "+v.DeletesOn()+", so it cannot make calls.", true
		return p
	case !priced:
		p.Why, p.Again = "There is no current price, so this market takes no call now.", site.MarketPath+m.GetId()
		return p
	case v.Handle == "" && v.Err == nil && s.LoginURL == "":
		p.Why = "Sign-in is not configured on this server."
		return p
	}
	p.Unrated, p.Confidence, p.Take, p.MaxTake = !m.GetRated(), form.Confidence, form.Take, protocol.MaxTake
	p.Prices, p.Asked = strconv.Itoa(yes)+","+strconv.Itoa(no), yes+no != maxPrice
	p.Sides = []callSide{callSideOf(m, protocol.Yes, yes, form), callSideOf(m, protocol.No, no, form)}
	if p.Button = "Make this call"; v.Handle == "" && v.Err == nil {
		p.Button = "Sign in to call"
		return p
	}
	if p.Key = form.Key; form.err == nil || isMoved(form.err) || !isFormKey(p.Key) {
		p.Key = rand.Text() // after another error, the call may have been stored, and the same key finds it
	}
	for _, side := range p.Sides {
		if side.Checked && isMoved(form.err) {
			p.Button = "Call at " + side.Price
		}
	}
	return p
}

// isMoved reports whether a call was not filed because its price has moved or cannot be checked.
func isMoved(err error) bool { return err != nil && apperr.Of(err).Code == "price_moved" }

// setAlert sets the text for the reason why a form was not filed. If the price has moved, it also sets the new prices of m.
func (p *callPanel) setAlert(m *marketv1.Market, form callForm) {
	f := apperr.Of(form.err)
	if f == nil {
		return
	}
	reason, _ := f.Extra[apperr.MemberReason].(string)
	switch field := fieldOf(f); {
	case callErrors[field] != "":
		p.Alert, p.AlertField = callErrors[field], callFields[field]
	case f.Code == "price_moved" && reason == "unverified":
		p.Unverified, p.Alert = true, "The venue does not answer, so this price cannot be checked. A call filed now counts in your "+
			"record but not in your points."
	case f.Code == "price_moved":
		setPrices(m, f)
		p.Alert, p.AlertField = "The price has moved. Check the new price and send again.", "call-sides"
	case f.Code == "already_predicted" || f.Code == "idempotency_key_reused":
		p.Alert = "You already have a call on this market. It is final, so this one was not filed."
	case f.Code == operator.ErrClosing.Code:
		p.Alert = "The call was not filed: your account is closed."
	case f.Code == "market_closed":
		p.Alert = "The call was not filed: this market takes no more calls."
	case f.Kind == apperr.Limited:
		p.Alert = "You can call again in " + waitOf(f) + "."
	case f.Kind == apperr.Unavailable:
		p.Alert = "We do not know yet whether your call was filed. Send it again: it is never filed twice."
	default:
		p.Alert = cmp.Or(f.Message, site.ErrForm.Message)
	}
}

// callErrors has the error texts of the form that files a call, by the member of the call, and callFields the ids of its fields.
var (
	callErrors = map[string]string{
		"direction":         "Choose a side.",
		"priceAtPrediction": "The price is missing. Check it and send again.",
		"confidence":        "Enter a whole number from 1 to 100 as the confidence, or leave it empty.",
		"textTake":          "Enter at most 500 characters as the take, without control characters.",
	}
	callFields = map[string]string{
		"direction": "call-sides", "priceAtPrediction": "call-sides", "confidence": "call-confidence", "textTake": "call-take",
	}
)

// setPrices sets the prices of a market from an error of the ledger, which has just read them from the venue.
func setPrices(m *marketv1.Market, f *apperr.Fault) {
	for member, price := range map[string]**int32{"yesPriceBps": &m.YesPriceBps, "noPriceBps": &m.NoPriceBps} {
		switch n := f.Extra[member].(type) {
		case float64:
			*price = new(int32(n))
		case int64:
			*price = new(int32(n))
		}
	}
}

// waitOf returns the time after which a limited request can be repeated, in whole seconds, rounded up.
func waitOf(f *apperr.Fault) string {
	return format.Digits(httpx.RetrySeconds(f)) + " s"
}

// callPrices returns the prices of the sides YES and NO in bps: what the venue asks, or else the probability that pages show. It
// returns false without a price of the last ten minutes.
func callPrices(m *marketv1.Market) (yes, no int, ok bool) {
	if m.YesBps == nil && (m.YesPriceBps == nil || m.NoPriceBps == nil) {
		return 0, 0, false
	}
	middle := format.ClampPrice(m.GetYesBps())
	yes, no = middle, maxPrice-middle
	if m.YesPriceBps != nil {
		yes = format.ClampPrice(m.GetYesPriceBps())
	}
	if m.NoPriceBps != nil {
		no = format.ClampPrice(m.GetNoPriceBps())
	}
	return yes, no, true
}

func callSideOf(m *marketv1.Market, side protocol.Side, price int, form callForm) callSide {
	s := callSide{
		Value: string(side), Name: view.SideName(m, string(side)), Class: format.SideClass(string(side)),
		Price: format.Cents(price), Checked: form.Side == string(side),
	}
	if was, ok := form.stated(); ok && s.Checked && isMoved(form.err) && was != price {
		s.Old = format.Cents(was)
	}
	if !m.GetRated() {
		s.Stake = "No points."
		return s
	}
	other := protocol.No
	if side == protocol.No {
		other = protocol.Yes
	}
	points, miss := signal.Points(&signalv1.Signal{ScoreBasisBps: int32(price)})
	won, lost := view.PointsLabel(int64(points)), view.PointsLabel(int64(miss))
	s.Other, s.Capped = view.SideName(m, string(other)), m.GetProvider() != string(protocol.Manual)
	if s.Capped {
		won, lost = "at most "+won, lost+" or lower"
	}
	s.Stake = "If " + s.Name + ": " + won + ". If " + s.Other + ": " + lost + "."
	return s
}

// whyNoCalls returns the sentence about a market that takes no calls. outcome is nil if it is unknown.
func whyNoCalls(m *marketv1.Market, status statusBadge, outcome *outcomePart) string {
	end := ledgerclient.Time(m.GetEndDate())
	switch {
	case status.Class == "disputed":
		return "The outcome is disputed (" + outcome.Disputed + "). The market takes no calls until the dispute is decided."
	case status.Class == "resolved" && outcome != nil && outcome.At != "":
		return status.Label + " on " + outcome.At + " by " + cmp.Or(outcome.Resolver, "the venue") + ". The market takes no more calls."
	case status.Class == "resolved":
		return status.Label + ". The market takes no more calls."
	case status.Class == "unknown":
		return "Waiting for the venue. The market takes calls when its venue has confirmed that it is open."
	case m.GetProvisional() && m.GetStatus() == string(protocol.MarketOpen):
		return "An outcome is proposed. The market takes no more calls."
	case !end.IsZero():
		return "Closed since " + format.When(end) + ". The market takes no more calls and awaits its outcome."
	}
	return "Closed. The market takes no more calls and awaits its outcome."
}

func ownCallOf(m *marketv1.Market, own *signalv1.Signal) *ownCall {
	side, filed := own.GetDirection(), ledgerclient.Time(own.GetCreatedAt())
	out := &ownCall{
		ID: own.GetId(), Side: view.SideName(m, side), SideClass: format.SideClass(side), Price: format.PriceOf(own),
		At: format.When(filed), AtISO: protocol.Stamp(filed),
	}
	if protocol.SignalStatus(own.GetStatus()) != protocol.Pending {
		out.Result = format.StatusLabel(own.GetStatus()) + ", " + format.CallPoints(own)
		return out
	}
	if m.YesBps == nil {
		return out
	}
	now := format.ClampPrice(m.GetYesBps())
	if side == string(protocol.No) {
		now = maxPrice - now
	}
	change := now - int(own.GetScoreBasisBps())
	out.Now, out.Change, out.Trend = format.Cents(now), format.PointsOf(change)+"¢", trendOf(int64(change))
	switch {
	case signal.NoPoints(own) != "":
		out.Points = "no points"
	case change == 100 || change == -100:
		out.Points = format.PointsOf(change) + " point"
	default:
		out.Points = format.PointsOf(change) + " points"
	}
	return out
}
