package verbs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// Paging contains the flags of a command that lists items in pages.
type Paging struct {
	Limit  int    `help:"Number of items of a page, 1 to 100." bounds:"from 1 to 100" default:"20"`
	Cursor string `help:"Start at this cursor, the next_cursor of the previous page."`
	All    bool   `help:"List the items of all pages."`
}

// check returns an error if --limit is outside its bounds. With All, the pages have the largest size.
func (p *Paging) check() error {
	if p.Limit < 1 || p.Limit > 100 {
		return errors.New("--limit must be 1 to 100")
	}
	if p.All {
		p.Limit = 100
	}
	return nil
}

// maxPages is the number of pages that --all reads at most, so that a server whose pages never end cannot fill the memory.
const maxPages = 1000

// read returns the body of one page, which begins at the flag --cursor. With --all it returns one body with the items of that
// page and of all later pages. get requests the page at a cursor; nil requests the first page.
func (p *Paging) read(get func(cursor *string) (*http.Response, error)) ([]byte, error) {
	if !p.All {
		return ask.Read(get(optional(p.Cursor)))
	}
	return readAll(optional(p.Cursor), get)
}

// readAll returns one body with the items of the page at the given cursor and of all pages after it. The items are in the member
// of a page that is a list; a page must have one.
func readAll(cursor *string, get func(cursor *string) (*http.Response, error)) ([]byte, error) {
	var items []json.RawMessage
	for range maxPages {
		raw, err := ask.Read(get(cursor))
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var next *string
		list := ""
		if json.Unmarshal(raw, &page) == nil {
			list = listMember(page)
		}
		var more []json.RawMessage
		if json.Unmarshal(page[list], &more) != nil {
			return nil, errors.New("the answer is not a page: it has no member that is a list; omit --all")
		}
		items = append(items, more...)
		if json.Unmarshal(page["next_cursor"], &next) != nil || next == nil || cursor != nil && *next == *cursor {
			if page[list], err = json.Marshal(items); err != nil {
				return nil, err
			}
			page["count"], page["next_cursor"] = fmt.Append(nil, len(items)), json.RawMessage("null")
			return json.Marshal(page)
		}
		cursor = next
	}
	return nil, fmt.Errorf("the list has more than %d pages; use a cursor", maxPages)
}

// listMember returns the name of the first member in alphabetical order that is a list, or "" if there is none.
func listMember(page map[string]json.RawMessage) string {
	for _, name := range slices.Sorted(maps.Keys(page)) {
		if bytes.HasPrefix(page[name], []byte("[")) {
			return name
		}
	}
	return ""
}

// showNext writes the flag that shows the next page. Comma-separated values and tables without names contain items only.
func (s *session) showNext(next *string) error {
	if next == nil || s.out.CSV || s.out.NoHeader {
		return nil
	}
	_, err := fmt.Fprintln(s.out, "Next page: --cursor", show.Clean(*next))
	return err
}
