package pages

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	searchPath  = "/search"
	minSearch   = 2  // shortest text that is searched, in characters
	mostShown   = 60 // characters of the text that the page repeats
	mostFound   = 25 // markets, and forecasters, on the page
	mostPopular = 10
	suggested   = 10 // markets and forecasters together
	// suggestedPeople is the number of forecasters among the suggestions if there are enough markets for the other places.
	suggestedPeople = 3
)

// hit is a market or a forecaster that a search has found. Its members are those of the suggestions in JSON.
type hit struct {
	Kind  string `json:"kind"` // market or forecaster
	Title string `json:"title"`
	URL   string `json:"url"`
	Note  string `json:"note"` // price, venue and lane of a market; handle of a forecaster
}

type searchPage struct {
	site.Layout
	Text            string
	Short           bool // the text is too short; the page shows popular markets
	Markets, People []hit
	Shown           string // the beginning of Text
	Spellings       []tab  // other texts to search for if nothing matches
	Lanes           []tab
	MarketsURL      string
}

// search handles GET /search, the page with the markets and forecasters that match a text.
func (s *server) search(c echo.Context) error {
	text := searchText(c)
	p := searchPage{Text: text, Shown: text, Short: utf8.RuneCountInString(text) < minSearch, Lanes: marketQuery{Sort: sorts[0].value}.lanes()[1:]}
	if letters := []rune(text); len(letters) > mostShown {
		p.Shown = string(letters[:mostShown]) + "…"
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	markets, people := s.findBoth(g, text, mostFound, mostPopular)
	unavailable := g.Wait()
	p.Markets, p.People = marketHits(markets.Value.GetMarkets()), peopleHits(people.Value.GetOperators())
	title := "Search"
	if text != "" {
		title = "Search: " + text
		p.Spellings = spellings(text)
	}
	p.MarketsURL = marketQuery{Text: text, Sort: sorts[0].value}.url()
	p.Layout = s.NewLayout(c, title, "Search markets and forecasters.", searchPath)
	p.Unavailable, p.OGType, p.Unlisted, p.SearchText = unavailable, "website", true, text
	return s.RenderParts(c, g, http.StatusOK, "search", p)
}

// suggest handles GET /search/suggest, which returns the first markets and forecasters that match a text, as JSON for the search
// field.
func (s *server) suggest(c echo.Context) error {
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	markets, people := s.findBoth(g, searchText(c), suggested, suggested)
	unavailable := g.Wait()
	found, hits := marketHits(markets.Value.GetMarkets()), peopleHits(people.Value.GetOperators())
	found = found[:min(len(found), suggested-min(len(hits), suggestedPeople))]
	found = append(found, hits[:min(len(hits), suggested-len(found))]...)
	if len(unavailable) > 0 {
		httpx.Degrade(c, "search")
	}
	return httpx.OK(c, struct {
		Items []hit `json:"items"`
	}{found})
}

// findBoth starts to read the open markets and the forecasters that match a text. For a text that is too short, it reads the
// markets with the largest volume of the last 24 hours and no forecasters. A text that begins with @ finds only forecasters.
func (s *server) findBoth(g *site.PartReader, text string, most, popular int32) (
	*site.Part[*cataloguev1.FindMarketsResponse], *site.Part[*operatorv1.FindOperatorsResponse],
) {
	markets, people := &site.Part[*cataloguev1.FindMarketsResponse]{}, &site.Part[*operatorv1.FindOperatorsResponse]{}
	handle, isHandle := strings.CutPrefix(text, "@")
	switch {
	case utf8.RuneCountInString(handle) < minSearch:
		markets = site.CallPart(g, "markets", s.Ledger.Catalogue.FindMarkets, &cataloguev1.FindMarketsRequest{Sort: byVolume24h, Limit: popular})
	default:
		people = site.CallPart(g, "people", s.Ledger.Operators.FindOperators, &operatorv1.FindOperatorsRequest{Text: handle, Limit: most})
		if !isHandle {
			markets = site.CallPart(g, "markets", s.Ledger.Catalogue.FindMarkets, &cataloguev1.FindMarketsRequest{
				Text: text, Sort: sorts[0].value, Limit: most,
			})
		}
	}
	return markets, people
}

func searchText(c echo.Context) string { return strings.TrimSpace(market.CutText(c.QueryParam("q"))) }

func marketHits(list []*marketv1.Market) []hit {
	return view.List(list, func(m *marketv1.Market) hit {
		note := []string{format.VenueName(m.GetProvider())}
		if m.YesBps != nil {
			price := view.SideName(m, string(protocol.Yes)) + " " + format.Cents(format.ClampPrice(m.GetYesBps()))
			note = append([]string{price}, note...)
		}
		if lane := format.TitleCase(m.GetLane()); lane != "" {
			note = append(note, lane)
		}
		return hit{Kind: "market", Title: m.GetTitle(), URL: site.MarketPath + m.GetId(), Note: strings.Join(note, " · ")}
	})
}

func peopleHits(list []*operatorv1.Operator) []hit {
	return view.List(list, func(m *operatorv1.Operator) hit {
		o := operator.FromMessage(m)
		note := "@" + string(o.Handle)
		if o.Tier == protocol.Automated {
			note += " · Bot"
		}
		return hit{Kind: "forecaster", Title: format.NameOf(o.DisplayName, string(o.Handle)), URL: site.PersonPath + string(o.Handle), Note: note}
	})
}

// spellings returns at most two shorter texts for a search that has found nothing: the text without its last word, and the
// beginning of its longest word. A search matches the beginnings of words.
func spellings(text string) []tab {
	words := strings.Fields(strings.TrimPrefix(text, "@"))
	longest := ""
	for _, w := range words {
		if len(w) > len(longest) {
			longest = w
		}
	}
	var tries []string
	if len(words) > 1 {
		tries = append(tries, strings.Join(words[:len(words)-1], " "), longest)
	}
	if letters := []rune(longest); len(letters) > minSearch {
		tries = append(tries, string(letters[:max(minSearch, len(letters)*2/3)]), string(letters[:max(minSearch, len(letters)/2)]))
	}
	var out []tab
	seen := map[string]bool{text: true}
	for _, t := range tries {
		if !seen[t] && len(out) < 2 && utf8.RuneCountInString(t) >= minSearch {
			seen[t] = true
			out = append(out, tab{Label: t, URL: searchPath + "?q=" + url.QueryEscape(t)})
		}
	}
	return out
}
