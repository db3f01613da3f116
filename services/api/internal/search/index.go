package search

import (
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Doc is what is searched of one market. Nil members are unknown.
type Doc struct {
	ID        syntax.MarketID
	Provider  syntax.Provider
	Title     string
	Slug      string
	Status    syntax.MarketStatus
	Lane      syntax.Lane
	EventKey  string
	EndDate   *time.Time
	Volume    *float64 // USD
	Volume24h *float64
}

// word is one word of the vocabulary with the markets that have it.
type word struct {
	text   string
	mask   uint64
	length int     // in runes
	docs   []int32 // rising
}

// entry is one market as the index keeps it.
type entry struct {
	Doc
	words []int32 // of title and slug
	title []int32 // rising, of the title alone and without stop words
}

// Index finds markets by words. All methods may be called at once.
type Index struct {
	mu     sync.RWMutex
	places map[syntax.MarketID]int32
	docs   []entry
	ids    map[string]int32
	words  []word
	events map[string][]int32 // markets of an event, by its key
	spare  sync.Pool          // of *scratch
}

// NewIndex is empty.
func NewIndex() *Index {
	return &Index{
		places: make(map[syntax.MarketID]int32), ids: make(map[string]int32), events: make(map[string][]int32),
		spare: sync.Pool{New: func() any { return new(scratch) }},
	}
}

// Len is the number of markets.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.docs)
}

// putBatch is how many markets are put while readers wait.
const putBatch = 500

// Put adds markets, or changes those that it knows.
func (x *Index) Put(docs []Doc) {
	for batch := range slices.Chunk(docs, putBatch) {
		x.mu.Lock()
		for i := range batch {
			x.put(&batch[i])
		}
		x.mu.Unlock()
	}
}

func (x *Index) put(d *Doc) {
	place, known := x.places[d.ID]
	if !known {
		place = int32(len(x.docs))
		x.places[d.ID] = place
		x.docs = append(x.docs, entry{})
	}
	e := &x.docs[place]
	if !known || e.EventKey != d.EventKey {
		x.move(place, e.EventKey, d.EventKey)
	}
	reworded := !known || e.Title != d.Title || e.Slug != d.Slug
	e.Doc = *d
	if reworded {
		x.reword(place, e)
	}
}

// move takes a market from one event to another.
func (x *Index) move(place int32, from, to string) {
	if from != "" {
		x.events[from] = without(x.events[from], place)
	}
	if to != "" {
		x.events[to] = with(x.events[to], place)
	}
}

// reword moves a market to the words that it has now.
func (x *Index) reword(place int32, e *entry) {
	var next []int32
	e.title = nil
	for _, text := range tokens(e.Title) {
		id := x.wordID(text)
		next = append(next, id)
		if !stopWords[text] {
			e.title = append(e.title, id)
		}
	}
	slices.Sort(e.title)
	for _, text := range tokens(e.Slug) {
		if id := x.wordID(text); !slices.Contains(next, id) {
			next = append(next, id)
		}
	}
	for _, id := range e.words {
		if !slices.Contains(next, id) {
			x.words[id].docs = without(x.words[id].docs, place)
		}
	}
	for _, id := range next {
		if !slices.Contains(e.words, id) {
			x.words[id].docs = with(x.words[id].docs, place)
		}
	}
	e.words = next
}

func (x *Index) wordID(text string) int32 {
	id, ok := x.ids[text]
	if !ok {
		id = int32(len(x.words))
		x.ids[text] = id
		x.words = append(x.words, word{text: text, mask: mask(text), length: utf8.RuneCountInString(text)})
	}
	return id
}

func with(list []int32, n int32) []int32 {
	at, found := slices.BinarySearch(list, n)
	if found {
		return list
	}
	return slices.Insert(list, at, n)
}

func without(list []int32, n int32) []int32 {
	if at, found := slices.BinarySearch(list, n); found {
		return slices.Delete(list, at, at+1)
	}
	return list
}
