package edge_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/proto/openapi"
)

// TestGoldensFitTheDescription holds every golden answer against the schema
// that the description gives it, and refuses members that no schema names.
func TestGoldensFitTheDescription(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(openapi.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for pattern, schema := range map[string]string{
		"reads/feed_*": "SignalFeed", "away/feed": "SignalFeed", "reads/signal_*": "Signal", "reads/events": "SignalEvents",
		"reads/market*": "Market", "reads/ledger*": "MarketLedger", "away/ledger": "MarketLedger", "reads/crowd*": "Crowd",
		"away/crowd": "Crowd", "reads/outcome_*": "OutcomeAnswer", "admin/outcome_*": "OutcomeAnswer", "reads/natives_*": "NativeMarkets",
		"away/natives": "NativeMarkets", "reads/board": "BroadcastBoard", "away/board": "BroadcastBoard", "reads/program": "Program",
		"reads/program_no_lanes": "Program", "reads/broadcast": "Program", "reads/program_off": "ProgramOff", "reads/program_away": "ProgramOff",
		"catalogue/found*": "MarketRows", "catalogue/market*": "VenueMarket", "catalogue/resolved*": "ResolvedRows",
		"wire/moves*": "Wire", "wire/away_items": "Wire", "wire/situations*": "Situations", "wire/away_situations": "Situations",
		"pins/none": "Pins", "pins/all": "Pins", "pins/kept*": "PinKept", "pins/removed*": "Removed", "pins/heatmap*": "Heatmap",
		"stations/streams*": "MarketStreams", "stations/bound*": "StreamBound", "stations/unbound*": "Removed", "stations/clips*": "MarketClips",
		"broadcast/spotlight*": "SpotlightAnswer", "broadcast/feed*": "BroadcastFeed", "broadcast/bumpers*": "Bumpers",
		"broadcast/influence*": "Influence", "broadcast/schedule*": "Schedule",
		"air/airable*": "Airable", "air/oracle*": "OracleTiles", "air/fashion*": "FashionFeed",
		"tiles/*": "Heatmap", "history/new*": "History", "history/old*": "OldHistory", "away/history": "History", "away/old_history": "OldHistory",
		"related/active*": "Related", "related/sentiment*": "Sentiment", "related/network*": "NetworkMarketAnswer", "related/gaps*": "CrowdGaps",
		"away/gaps": "CrowdGaps", "away/found": "MarketRows", "away/resolved": "ResolvedRows",
		"protocol/issuer": "Issuer", "protocol/resource*": "ProtectedResource", "protocol/passport*": "Passport",
		"protocol/app_made": "App", "protocol/apps": "AppList", "protocol/app_public": "PublicApp",
		"session/*": "SignedIn", "keys/minted": "MintedKey", "keys/list": "KeyList", "keys/revoked": "RevokedKey", "keys/whoami": "WhoAmI",
		"follow/nobody": "FollowCounts", "follow/own": "FollowCounts", "follow/anonymous": "FollowCounts", "follow/followed": "Followed", "follow/again": "Followed",
		"follow/unfollowed*": "Followed", "claim/none": "IdentityClaims", "claim/list": "IdentityClaims", "claim/made": "IdentityClaimed",
		"claim/dropped*": "Removed", "claim/network*": "NetworkIdentity", "claim/payout*": "Payout", "digest/*": "DigestAnswer",
		"predictions/filed": "Filed", "events/appended": "AppendedEvent", "events/dry_run": "DryEvent", "admin/forced": "Forced", "admin/scan*": "Scanned",
		"admin/disputed": "Disputed", "admin/cleared": "Disputed", "admin/market_created": "NativeMarketCreated",
		"admin/classified": "Classified", "rate_limited": "RateLimitError", "reads/receipt": "Receipt",
		"record/atom*": "OperatorAtom", "record/field*": "FieldRecord", "record/skill*": "OperatorSkill", "record/pulse*": "Pulse",
	} {
		files, err := filepath.Glob("testdata/" + pattern + ".json")
		if err != nil || len(files) == 0 {
			t.Errorf("no golden file %s", pattern)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct{ Body any }
			if err := json.Unmarshal(raw, &answer); err != nil {
				t.Fatal(err)
			}
			for _, mistake := range fits(doc.Components.Schemas, doc.Components.Schemas[schema], answer.Body, "") {
				t.Errorf("%s is no %s: %s", file, schema, mistake)
			}
			checked++
		}
	}
	broken := map[string]any{"type": "recent", "count": -1.0, "signals": []any{}, "more": 1.0}
	if n := len(fits(doc.Components.Schemas, doc.Components.Schemas["SignalFeed"], broken, "")); n != 2 {
		t.Errorf("a broken feed has %d mistakes, want 2: the check is broken", n)
	}
	t.Logf("%d answers", checked)
}

// fits lists how a value differs from a schema; it knows the words that the
// description uses.
func fits(all map[string]any, schema, value any, at string) (wrong []string) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return fits(all, all[filepath.Base(ref)], value, at)
	}
	if options, ok := s["oneOf"].([]any); ok {
		for _, o := range options {
			if wrong = fits(all, o, value, at); len(wrong) == 0 {
				return nil
			}
		}
		return wrong
	}
	say := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	if types := typesOf(s["type"]); len(types) > 0 && !slices.ContainsFunc(types, func(k string) bool { return isType(k, value) }) {
		say("%v is not %v", value, types)
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, value) {
		say("%v is none of %v", value, enum)
	}
	if c, ok := s["const"]; ok && c != value {
		say("%v is not %v", value, c)
	}
	switch v := value.(type) {
	case string:
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			say("%q does not match %s", v, p)
		}
	case float64:
		if low, ok := s["minimum"].(float64); ok && v < low {
			say("%v is below %v", v, low)
		}
		if high, ok := s["maximum"].(float64); ok && v > high {
			say("%v is above %v", v, high)
		}
	case []any:
		for i, item := range v {
			wrong = append(wrong, fits(all, s["items"], item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		wrong = append(wrong, members(all, s, v, at)...)
	}
	return wrong
}

func members(all, s, v map[string]any, at string) (wrong []string) {
	known, closed := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			wrong = append(wrong, at+": no member "+name.(string))
		}
	}
	for name, member := range v {
		if known[name] != nil {
			wrong = append(wrong, fits(all, known[name], member, at+"."+name)...)
		} else if closed {
			wrong = append(wrong, at+": member "+name+" is not described")
		}
	}
	return wrong
}

func typesOf(t any) []string {
	switch t := t.(type) {
	case string:
		return []string{t}
	case []any:
		return strings.Fields(strings.Trim(fmt.Sprint(t), "[]"))
	}
	return nil
}

func isType(kind string, v any) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	}
	return kind == "object"
}
