package access

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/bits"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/redisx"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestKeysAreStoredAsHashes checks that a key has 256 random bits, is shown once, and is stored only as its SHA-256
// hash (guarantee G1).
func TestKeysAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	markets := make([]string, 10)
	for i := range markets {
		markets[i] = s.NewNativeMarket(t, 5000, nil)
	}
	var mu sync.Mutex
	var keys []string
	t.Run("people", func(t *testing.T) {
		for range stack.Size(t, 5, 100, 100) {
			t.Run("person", func(t *testing.T) {
				t.Parallel()
				mine := useTenKeys(t, s, markets)
				mu.Lock()
				defer mu.Unlock()
				keys = append(keys, mine...)
			})
		}
	})
	requireRandom(t, keys)
	h := newKeySearch(t, keys)
	h.searchTables(t, s)
	h.searchRedis(t, s)
	for _, path := range s.Logs(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h.search(path, string(raw))
	}
	for name, text := range metrics(t, s) {
		h.search("metrics of "+name, text)
	}
	for _, where := range slices.Sorted(maps.Keys(h.found)) {
		t.Errorf("%s contains the text of a key; want only hashes", where)
	}
	if len(h.hashes) != len(keys) {
		t.Errorf("the search found %d of %d hashes of keys; want all, otherwise the search does not work", len(h.hashes), len(keys))
	}
	if n := stack.Query[int](t, s, `SELECT count(*) FROM pg_constraint WHERE conrelid = 'api.operator_keys'::regclass
		AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%octet_length(hash) = 32%'`); n != 1 {
		t.Error("the database accepts hashes that do not have 32 bytes")
	}
}

// useTenKeys creates ten keys for a new person, the last one at the api, and files a call with each key. It returns the keys.
func useTenKeys(t *testing.T, s *stack.Stack, markets []string) []string {
	t.Helper()
	o := s.NewOperator(t)
	keys := []string{o.Key}
	for len(keys) < 9 {
		key, _ := o.Mint(t, stack.JSON{"label": "one of ten"})
		keys = append(keys, key)
	}
	keys = append(keys, mintAgentKey(t, s, o.Login, stack.JSON{"label": "the last"}))
	for i, key := range keys {
		o.Retry(t, http.MethodPost, s.Hub+"/api/predictions", stack.Bearer(key), stack.Body(stack.Call(markets[i], "YES", 5000)),
			stack.Header("Idempotency-Key", fmt.Sprint(o.Handle, i))).Require(http.StatusOK)
	}
	list := o.Do(t, http.MethodGet, s.Hub+"/api/dev/keys", stack.Bearer(o.Login)).Require(http.StatusOK)
	for _, key := range keys {
		if list.Contains(secretPart(key)) {
			t.Error("the list of keys shows a key")
		}
	}
	return keys
}

// secretPart returns the random part of an operator key, without its prefix.
func secretPart(key string) string {
	return strings.TrimPrefix(strings.TrimPrefix(key, "dk_"), "db_live_")
}

// requireRandom reports a test error if two keys are equal, or if the number of keys with a certain bit set is too low or too
// high for chance. The bound is six standard deviations.
func requireRandom(t *testing.T, keys []string) {
	t.Helper()
	unlikely := func(set, n int) bool { return (2*set-n)*(2*set-n) > 36*n }
	var set [256]int
	total, distinct := 0, map[string]bool{}
	for _, key := range keys {
		raw, err := base64.RawURLEncoding.DecodeString(secretPart(key))
		if err != nil || len(raw) != 32 {
			t.Fatalf("the random part of a key has %d bytes; want 32 (%v)", len(raw), err)
		}
		distinct[string(raw)] = true
		for i, b := range raw {
			total += bits.OnesCount8(b)
			for k := range 8 {
				set[i*8+k] += int(b >> k & 1)
			}
		}
	}
	if len(distinct) != len(keys) {
		t.Errorf("%d of %d keys are distinct; want all", len(distinct), len(keys))
	}
	if n := len(keys) * 256; unlikely(total, n) {
		t.Errorf("%d of %d bits of the keys are set; want about half", total, n)
	}
	for i, n := range set {
		if unlikely(n, len(keys)) {
			t.Errorf("bit %d is set in %d of %d keys; want about half", i, n, len(keys))
		}
	}
}

// prefixLength is the number of bytes of a text by which keySearch looks it up.
const prefixLength = 12

// keySearch searches texts for keys, in several encodings, and for hashes of keys.
type keySearch struct {
	texts  map[string][]string // texts to find, by their prefix
	isHash map[string]bool
	found  map[string]bool // places that contain a key
	hashes map[string]bool // hashes that were found
}

func newKeySearch(t *testing.T, keys []string) *keySearch {
	t.Helper()
	h := &keySearch{texts: map[string][]string{}, isHash: map[string]bool{}, found: map[string]bool{}, hashes: map[string]bool{}}
	for _, key := range keys {
		text := secretPart(key)
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(key))
		hash := hex.EncodeToString(sum[:])
		h.isHash[hash] = true
		h.add(hash, text, hex.EncodeToString(raw), hex.EncodeToString([]byte(text)), string(raw), base64.StdEncoding.EncodeToString(raw)[:40])
		for skip := range 3 { // base64 of a longer text may contain the key at any offset
			encoded := base64.StdEncoding.EncodeToString(append(make([]byte, skip), text...))
			h.add(encoded[4 : len(encoded)-4])
		}
	}
	return h
}

func (h *keySearch) add(texts ...string) {
	for _, text := range texts {
		h.texts[text[:prefixLength]] = append(h.texts[text[:prefixLength]], text)
	}
}

func (h *keySearch) search(where, text string) {
	for i := range max(0, len(text)-prefixLength+1) {
		for _, wanted := range h.texts[text[i:i+prefixLength]] {
			switch {
			case !strings.HasPrefix(text[i:], wanted):
			case h.isHash[wanted]:
				h.hashes[wanted] = true
			default:
				h.found[where] = true
			}
		}
	}
}

// searchTables searches each table of the database, and the statements that Postgres has recorded, for keys.
func (h *keySearch) searchTables(t *testing.T, s *stack.Stack) {
	t.Helper()
	enableStatementStatistics(t, s)
	db := s.DB(t)
	rows, err := db.Query(t.Context(), `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'm') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range append(tables, "pg_stat_statements", "pg_stat_activity") {
		rows, err := db.Query(t.Context(), "SELECT t::text FROM "+table+" t")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			h.search("table "+table, string(rows.RawValues()[0]))
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("read table %s: %v", table, err)
		}
	}
}

var extension sync.Mutex

// enableStatementStatistics creates the extension pg_stat_statements, which makes recorded SQL statements readable.
func enableStatementStatistics(t *testing.T, s *stack.Stack) {
	t.Helper()
	extension.Lock()
	defer extension.Unlock()
	if _, err := s.DB(t).Exec(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		t.Fatal(err)
	}
}

// searchRedis searches the name and the value of each key in Redis.
func (h *keySearch) searchRedis(t *testing.T, s *stack.Stack) {
	t.Helper()
	db := openRedis(t, s)
	all := db.Scan(t.Context(), 0, "*", 1000).Iterator()
	for all.Next(t.Context()) {
		key := all.Val()
		var value any
		switch kind := db.Type(t.Context(), key).Val(); kind {
		case "none": // the key has expired
		case "string":
			value = db.Get(t.Context(), key).Val()
		case "list":
			value = db.LRange(t.Context(), key, 0, -1).Val()
		case "set":
			value = db.SMembers(t.Context(), key).Val()
		case "zset":
			value = db.ZRange(t.Context(), key, 0, -1).Val()
		case "hash":
			value = db.HGetAll(t.Context(), key).Val()
		case "stream":
			value = db.XRange(t.Context(), key, "-", "+").Val()
		default:
			t.Fatalf("the Redis key %s has the type %s, which this search does not support", key, kind)
		}
		h.search("Redis at "+key, fmt.Sprint(key, value))
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
}

func openRedis(t *testing.T, s *stack.Stack) *redisx.Client {
	t.Helper()
	db, err := redisx.Open(redisx.Config{URL: s.RedisURL, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// metrics returns the metrics of each service as text.
func metrics(t *testing.T, s *stack.Stack) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"hub", "hub-2", "api", "clock"} {
		a := stack.Get(t, "http://"+s.Settings(t, name)["METRICS_ADDR"]+"/metrics").Require(http.StatusOK)
		out[name] = string(a.Body)
	}
	return out
}

const (
	// A key may file 60 calls per minute, or 30 per hub if Redis is unavailable.
	callsBeforeRevocation = 34
	callsAfterRevocation  = 20
	senders               = 8
)

// TestRevokedKeysAreRefusedAtOnce checks that no hub accepts a call that was sent after the answer to the revocation of
// its key, with Redis and without it (guarantee G3).
func TestRevokedKeysAreRefusedAtOnce(t *testing.T) {
	s := stack.Exclusive(t, stack.Hubs(2), stack.ScoredAtOnce())
	markets := make([]string, callsBeforeRevocation+callsAfterRevocation)
	for i := range markets {
		markets[i] = s.NewNativeMarket(t, 5000, nil)
	}
	trials := stack.Size(t, 2, 8, 40)
	for _, tc := range []struct {
		name  string
		redis bool
	}{{"with Redis", true}, {"without Redis", false}} {
		t.Run(tc.name, func(t *testing.T) {
			people := make([]*stack.Operator, trials/2)
			for i := range people {
				people[i] = s.NewOperator(t)
			}
			if !tc.redis {
				defer s.Hang(t, "redis")()
			}
			for i, o := range people {
				revokeUnderLoad(t, s, o, s.HubAt(i), markets)
			}
		})
	}
}

// revokeUnderLoad revokes a key while goroutines file calls with the key at all hubs, and checks that no later call is
// accepted.
func revokeUnderLoad(t *testing.T, s *stack.Stack, o *stack.Operator, hub string, markets []string) {
	t.Helper()
	key, id := o.Mint(t, stack.JSON{"label": "to be revoked"})
	var next, accepted atomic.Int64
	revoked := make(chan struct{})
	send := func(i int, after bool) {
		call := stack.Body(stack.Call(markets[i], "YES", 5000))
		a, err := o.Try(t, http.MethodPost, s.HubAt(i)+"/api/predictions", stack.Bearer(key), call)
		stored := a.Status == http.StatusOK || a.Status == http.StatusConflict
		switch {
		case err != nil:
			t.Errorf("file a call: %v", err)
		case stored && after:
			t.Errorf("a call that was sent after the revocation was answered %d; want 401: %s", a.Status, a.Body)
		case stored:
			accepted.Add(1)
		case a.Status != http.StatusUnauthorized:
			t.Errorf("a call during the revocation was answered %d; want 200 or 401: %s", a.Status, a.Body)
		}
	}
	var wait sync.WaitGroup
	for range senders {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < callsBeforeRevocation; i = next.Add(1) - 1 {
				select {
				case <-revoked:
					return
				case <-time.After(5 * time.Millisecond):
					send(int(i), false)
				}
			}
		})
	}
	defer wait.Wait()
	stack.Eventually(t, 10*time.Second, "accepted calls before the revocation", func() bool { return accepted.Load() >= senders })
	o.Do(t, http.MethodDelete, hub+"/api/dev/keys?id="+id, stack.Bearer(o.Login)).Require(http.StatusOK)
	close(revoked)
	for i := range callsAfterRevocation {
		wait.Go(func() { send(callsBeforeRevocation+i, true) })
	}
}
