package kalshi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// series is a family of events.
type series struct {
	ticker, title, category string
	tags                    []string
	words                   []string // topic words that lead here
}

// families are tried in this order: a narrow topic before a broad one. The last
// takes what no other does.
var families = []series{
	{"KXMUSIC", "Music", "Entertainment", []string{"Music", "Charts"}, []string{"music"}},
	{"KXMOVIES", "Movies", "Entertainment", []string{"Movies"}, []string{"movies"}},
	{"KXTV", "Television", "Entertainment", []string{"Television"}, []string{"tv", "entertainment"}},
	{"KXSPORTS", "Games and leagues", "Sports", []string{"Leagues"}, []string{"sports", "sport"}},
	{"KXCRYPTO", "Prices of coins", "Crypto", []string{"Hourly"}, []string{"crypto"}},
	{"KXTECH", "Machines and firms", "Science and Technology", []string{"AI"}, []string{"tech", "ai"}},
	{"KXECON", "Rates and prices", "Economics", []string{"Rates"}, []string{"economy", "finance"}},
	{"KXWEATHER", "Weather", "Climate and Weather", []string{"Daily temperature"}, []string{"weather", "science"}},
	{"KXELECT", "Elections", "Elections", []string{"Ballots"}, []string{"elections"}},
	{"KXPOLITICS", "Politics", "Politics", []string{"Parliament"}, []string{"politics"}},
	{"KXWORLD", "The world", "World", []string{"Treaties"}, []string{"world", "geopolitics"}},
	{"KXSOCIAL", "Society", "Social", []string{"People"}, []string{"pop-culture", "culture", "fashion"}},
	{"KXMISC", "Oddities", "Exotics", nil, nil},
}

// family is the series of an event.
func family(tags []world.Tag) series {
	for _, f := range families {
		if slices.ContainsFunc(tags, func(t world.Tag) bool { return slices.Contains(f.words, t.Slug) }) {
			return f
		}
	}
	return families[len(families)-1]
}

// seriesTicker, eventTicker and ticker are the three keys of a market. A
// recorded one has its own.
func seriesTicker(m *world.Market) string {
	if m.Key != "" {
		return m.Event.ID
	}
	return family(m.Event.Tags).ticker
}

func eventTicker(m *world.Market) string {
	if m.Key != "" {
		return m.Event.Slug
	}
	return seriesTicker(m) + "-" + number(m.Event.Head)
}

func ticker(m *world.Market) string {
	if m.Key != "" {
		return m.Key
	}
	return eventTicker(m) + "-" + number(m.ID)
}

// number writes a number as tickers do.
func number(n int64) string { return strings.ToUpper(strconv.FormatInt(n, 36)) }

// lastNumber reads the number at the end of a ticker.
func lastNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s[strings.LastIndexByte(s, '-')+1:], 36, 64)
	return n, err == nil && n > 0
}

// Key is the venue's own key of a market.
func (s *Service) Key(m *world.Market) string { return ticker(m) }

// Find finds a market by its ticker, live or archived. Case counts.
func (s *Service) Find(key string) (world.Market, bool) {
	if m, ok := s.world.Recorded(key); ok {
		return m, m.Key == key
	}
	id, ok := lastNumber(key)
	if !ok {
		return world.Market{}, false
	}
	m, ok := s.world.Get(id)
	return m, ok && ticker(&m) == key
}

// members finds the markets of an event.
func (s *Service) members(key string) []world.Market {
	head, ok := lastNumber(key)
	if first, recorded := s.world.Recorded("event " + key); recorded {
		head, ok = first.Event.Head, true
	}
	if !ok {
		return nil
	}
	list := s.world.Members(head)
	if len(list) == 0 || eventTicker(&list[0]) != key {
		return nil
	}
	return list
}
