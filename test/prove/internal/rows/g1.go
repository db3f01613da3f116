package rows

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/bits"
	"net/http"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// g1 mints keys, uses each, and looks for them in everything that the system
// keeps or says.
var g1 = frame.Row{
	ID: "G1", Title: "keys exist only as SHA-256, are 256 random bits, and are shown once",
	Fault: frame.Fault{What: "the label of a key ends in the key"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		keys, err := mintMany(ctx, env, seen, env.Of(5, 100, 100))
		if err != nil {
			return nil, err
		}
		seen.Check(random(keys) == "", "the keys are not random: %s", random(keys))
		h := newHaystack(keys)
		if err := h.searchAll(ctx, env); err != nil {
			return nil, err
		}
		for where := range h.found {
			seen.Wrong("a key stands in %s", where)
		}
		// Every hash must be there: the search has seen the rows of the keys.
		seen.Check(len(h.hashes) == len(keys), "%d of %d hashes are on record", len(h.hashes), len(keys))
		checked, err := env.Count(ctx, `SELECT count(*) FROM pg_constraint WHERE conrelid = 'api.operator_keys'::regclass
			AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%octet_length(hash) = 32%'`)
		if err != nil {
			return nil, err
		}
		seen.Check(checked == 1, "the database takes hashes of any length")
		seen.Figure("searchedBytes", h.bytes)
		seen.Promise("hits 0, duplicates 0", fmt.Sprintf("hits %d, duplicates %d, %d MB searched", len(h.found), duplicates(keys), h.bytes>>20))
		seen.Volume("%s keys", frame.Number(len(keys)))
		return seen, nil
	},
}

// mintMany mints ten keys for each of so many people, the last at the ledger's
// own host, and files one call with each.
func mintMany(ctx context.Context, env *frame.Env, seen *frame.Seen, people int) ([]string, error) {
	ids, err := markets(ctx, env, "G1", 10)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var keys []string
	errs := make([]error, people)
	frame.Each(people, 8, func(i int) {
		p, err := signUp(ctx, env, fmt.Sprintf("g1-holder-%d", i), 9)
		if err != nil {
			errs[i] = err
			return
		}
		var last client.MintedKey
		errs[i] = env.Client.Do(ctx, client.Request{
			URL: env.Stack.API + "/api/v1/agent/keys", As: p.login, Body: map[string]any{"label": "the last"},
		}).Into(http.StatusCreated, &last)
		for k, key := range append(p.keys, last) {
			a := env.Client.File(ctx, env.Hub(k), key.Key, client.Call{Market: ids[k], Yes: true, Price: 5000})
			seen.Check(a.Status == 200, "a call was answered %s", a)
			mu.Lock()
			keys = append(keys, string(key.Key))
			mu.Unlock()
		}
		shown := env.Client.Do(ctx, client.Request{URL: env.Hub(i) + "/api/dev/keys", As: p.login})
		for _, key := range p.keys {
			seen.Check(shown.Status == 200 && !strings.Contains(string(shown.Body), bodyOf(string(key.Key))), "a key is shown twice")
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// bodyOf is the random part of a key.
func bodyOf(key string) string {
	return strings.TrimPrefix(strings.TrimPrefix(key, "dk_"), "db_live_")
}

func duplicates(keys []string) int {
	seen := map[string]bool{}
	for _, k := range keys {
		seen[bodyOf(k)] = true
	}
	return len(keys) - len(seen)
}

// random tells what speaks against 256 random bits a key; empty: nothing.
func random(keys []string) string {
	var set [256]int
	total := 0
	for _, key := range keys {
		raw, err := base64.RawURLEncoding.DecodeString(bodyOf(key))
		if err != nil || len(raw) != 32 {
			return "a key does not hold 32 bytes"
		}
		for i, b := range raw {
			total += bits.OnesCount8(b)
			for k := range 8 {
				set[i*8+k] += int(b >> k & 1)
			}
		}
	}
	if d := duplicates(keys); d > 0 {
		return fmt.Sprintf("%d stand twice", d)
	}
	// Six standard deviations: of 257 figures none lies beyond by chance.
	if n := len(keys) * 256; beyond(total, n) {
		return fmt.Sprintf("%d of %d bits are set", total, n)
	}
	for i, n := range set {
		if beyond(n, len(keys)) {
			return fmt.Sprintf("bit %d is set in %d of %d keys", i, n, len(keys))
		}
	}
	return ""
}

func beyond(set, n int) bool {
	d := 2*set - n
	return d*d > 36*n
}

// haystack looks for keys in any text.
type haystack struct {
	needles map[string][]string // by their first bytes
	whole   map[string]string   // hash by its hex form
	found   map[string]bool     // where a key was found
	hashes  map[string]bool     // that were found
	bytes   int
}

// stem is how much of a needle is looked up at once.
const stem = 12

func newHaystack(keys []string) *haystack {
	h := &haystack{needles: map[string][]string{}, whole: map[string]string{}, found: map[string]bool{}, hashes: map[string]bool{}}
	for _, key := range keys {
		body := bodyOf(key)
		raw, _ := base64.RawURLEncoding.DecodeString(body) // random has read it
		h.add(body, hex.EncodeToString(raw), hex.EncodeToString([]byte(body)), string(raw))
		h.add(base64.StdEncoding.EncodeToString(raw)[:40])
		for skip := range 3 { // wherever it begins in a longer text
			coded := base64.StdEncoding.EncodeToString(append(make([]byte, skip), body...))
			h.add(coded[4 : len(coded)-4])
		}
		sum := sha256.Sum256([]byte(key))
		text := hex.EncodeToString(sum[:])
		h.whole[text] = text
		h.add(text)
	}
	return h
}

func (h *haystack) add(needles ...string) {
	for _, n := range needles {
		h.needles[n[:stem]] = append(h.needles[n[:stem]], n)
	}
}

func (h *haystack) search(where, text string) {
	h.bytes += len(text)
	for i := range max(0, len(text)-stem+1) {
		for _, n := range h.needles[text[i:i+stem]] {
			switch {
			case !strings.HasPrefix(text[i:], n):
			case h.whole[n] != "":
				h.hashes[n] = true
			default:
				h.found[where] = true
			}
		}
	}
}
