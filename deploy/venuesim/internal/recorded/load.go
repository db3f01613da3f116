package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile bounds what is read into memory for one recorded file.
const maxFile = 64 << 20

// Library is what was loaded, by venue; a venue of which nothing was recorded
// has nil.
type Library struct {
	Polymarket                  *Set
	Kalshi, Limitless, Manifold *Wire
}

// Load reads every .json file below the folders. What it cannot use it reports
// through note. It fails when a folder cannot be read or holds no market at all.
func Load(dirs []string, note func(string)) (*Library, error) {
	b := &builder{set: newSet(), kalshi: newWire(), limitless: newWire(), manifold: newWire()}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() || !strings.HasSuffix(path, ".json") {
				return nil
			}
			return b.file(path, note)
		})
		if err != nil {
			return nil, fmt.Errorf("read recorded data: %w", err)
		}
	}
	lib := &Library{Kalshi: b.kalshi.finish(), Limitless: b.limitless.finish(), Manifold: b.manifold.finish()}
	if len(b.set.markets) > 0 {
		b.set.finish()
		lib.Polymarket = b.set
	}
	if *lib == (Library{}) {
		return nil, fmt.Errorf("read recorded data: no market in %s", strings.Join(dirs, ":"))
	}
	return lib, nil
}

// builder holds what was read so far.
type builder struct {
	set                         *Set
	kalshi, limitless, manifold *Wire
}

func (b *builder) file(path string, note func(string)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		note("left out, too large: " + path)
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw = bytes.TrimSpace(raw)
	if !b.set.take(raw) && !takeKalshi(b.kalshi, raw) && !takeLimitless(b.limitless, raw) && !takeManifold(b.manifold, raw) {
		note("left out, of no form that is known: " + path)
	}
	return nil
}

// take recognises a file by its form.
func (s *Set) take(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		return json.Unmarshal(raw, &list) == nil && s.addAll(list) > 0
	}
	var box struct {
		ID          string            `json:"id"`
		ConditionID string            `json:"condition_id"`
		Markets     []json.RawMessage `json:"markets"`
		Data        []json.RawMessage `json:"data"`
		History     []point           `json:"history"`
	}
	if json.Unmarshal(raw, &box) != nil {
		return false
	}
	switch {
	case box.ConditionID != "":
		return s.addBook(raw)
	case len(box.Data) > 0:
		taken := false
		for _, r := range box.Data { // new markets have no condition yet
			taken = s.addBook(r) || taken
		}
		return taken
	case len(box.History) > 0:
		s.histories = append(s.histories, box.History)
		return true
	case len(box.Markets) > 0:
		return s.addAll(box.Markets) > 0
	}
	return s.addMarket(raw)
}

func (s *Set) addAll(list []json.RawMessage) (added int) {
	for _, r := range list {
		if s.addMarket(r) {
			added++
		}
	}
	return added
}
