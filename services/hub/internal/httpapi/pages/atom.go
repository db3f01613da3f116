package pages

import (
	"cmp"
	"encoding/xml"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// atomFile is the last segment of the path of an Atom feed.
const atomFile = "/feed.xml"

const atomType = "application/atom+xml; charset=utf-8"

// atomFeed is an Atom feed (RFC 4287 4.1.1).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Link    atomLink `xml:"link"`
	Content string   `xml:"content"`
}

// siteAtom handles GET /feed.xml, the Atom feed of the newest calls, takes, results and resolutions. Error: db_unavailable.
func (s *server) siteAtom(c echo.Context) error {
	types := append(append([]string{}, callTypes...), outcomeTypes...)
	return s.eventAtom(c, "Signalcast", homePath, s.started, &feedv1.ListEventsRequest{Types: types, Limit: eventsShown})
}

// personAtom handles GET /u/{handle}/feed.xml, the Atom feed of the calls, takes and results of a forecaster. Errors: not_found,
// db_unavailable.
func (s *server) personAtom(c echo.Context, account identityclaim.Account) error {
	return s.eventAtom(c, "@"+string(account.Handle)+" on Signalcast", site.PersonPath+string(account.Handle), account.CreatedAt,
		&feedv1.ListEventsRequest{Types: callTypes, OperatorIds: []string{string(account.ID)}, Limit: eventsShown})
}

// eventAtom answers with the Atom feed of events. path is the page that the feed belongs to, and began the time of an empty feed.
func (s *server) eventAtom(c echo.Context, title, path string, began time.Time, q *feedv1.ListEventsRequest) error {
	r, err := s.Ledger.Feed.ListEvents(c.Request().Context(), q)
	if err != nil {
		return err
	}
	var entries []atomEntry
	for _, e := range r.GetEvents() {
		entries = append(entries, s.atomEntryOf(e.GetId(), feedRowOf(e)))
	}
	return s.writeAtom(c, title, path, began, entries)
}

// marketAtom handles GET /m/{marketId}/feed.xml, the Atom feed of the calls on a market. Errors: market_not_found,
// venue_unavailable, db_unavailable.
func (s *server) marketAtom(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return market.ErrUnknown
	}
	m, err := s.Ledger.Market(c.Request().Context(), id)
	if err != nil {
		return market.ReadError(err)
	}
	ledger, err := s.Ledger.Signals.ListLedger(c.Request().Context(), &signalv1.ListLedgerRequest{
		MarketId: string(id), Limit: eventsShown,
	})
	if err != nil {
		return err
	}
	var entries []atomEntry
	calls := callsOf(ledger.GetSignals(), map[string]*marketv1.Market{string(id): m})
	for i, call := range ledger.GetSignals() {
		entries = append(entries, s.atomEntryOf(call.GetId(), feedRow{
			Label: feedLabels["signal.created"], Handle: calls[i].Caller, Title: m.GetTitle(), Receipt: site.ReceiptPath + call.GetId(),
			Fact: calls[i].Side + " at " + calls[i].Price, Text: call.GetTextTake(), At: ledgerclient.Time(call.GetCreatedAt()),
		}))
	}
	return s.writeAtom(c, m.GetTitle(), site.MarketPath+string(id), ledgerclient.Time(m.GetCreatedAt()), entries)
}

// atomEntryOf returns the entry of an event or of a call with the given id.
func (s *server) atomEntryOf(id string, r feedRow) atomEntry {
	e := atomEntry{
		ID: "urn:uuid:" + id, Title: r.Label + ": " + r.Title, Updated: protocol.Stamp(r.At), Author: cmp.Or(r.Handle, "Signalcast"),
		Link: atomLink{"alternate", s.HubURL + cmp.Or(r.Receipt, r.URL)}, Content: r.Fact,
	}
	if r.Handle != "" {
		e.Title = r.Label + " by " + r.Handle + ": " + r.Title
	}
	if r.Text != "" {
		e.Content += "\n\n" + r.Text
	}
	return e
}

// writeAtom answers with an Atom feed, or with 304 if the client has it.
func (s *server) writeAtom(c echo.Context, title, path string, began time.Time, entries []atomEntry) error {
	self := s.HubURL + atomPath(path)
	f := atomFeed{
		ID: self, Title: title, Updated: protocol.Stamp(began), Author: "Signalcast", Entries: entries,
		Links: []atomLink{{"self", self}, {"alternate", s.HubURL + path}},
	}
	if len(entries) > 0 {
		f.Updated = entries[0].Updated
	}
	body, err := xml.Marshal(f)
	if err != nil {
		return err
	}
	httpcache.Make(append([]byte(xml.Header), body...)).As(atomType).WriteTo(c.Response(), c.Request())
	return nil
}

// atomPath returns the path of the Atom feed of a page.
func atomPath(page string) string {
	if page == homePath {
		return atomFile
	}
	return page + atomFile
}
