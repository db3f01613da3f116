package rows

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// j3 signs messages by a canonical form of our own and looks for another text that
// the system takes with the same signature.
var j3 = frame.Row{
	ID: "J3", Title: "one byte form is signed",
	Fault: frame.Fault{What: "bodies are read by a lenient reader before their canonical form is made"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		ops, err := pool(ctx, env, "j3", 1, 1)
		if err != nil {
			return nil, err
		}
		f := forms{env: env, seen: seen, pen: newPen(env, ops[0].ID, "j3")}
		if err := f.pen.register(ctx, env, ops[0].Keys[0], "station:update"); err != nil {
			return nil, fmt.Errorf("register a signer: %w", err)
		}
		if err := enlist(ctx, env, ops[0].Keys[0], riverDesk); err != nil {
			return nil, err
		}
		n := env.Of(4, 100, 2000)
		frame.Each(n, 8, func(i int) { f.try(ctx, i) })
		if err := f.spelt(ctx); err != nil {
			return nil, err
		}
		var tests tested
		runs := 0
		if env.Size != frame.Small { // the fault shows at the doors
			if tests, err = ownTests(ctx, env, seen, "./services/hub/internal/message", "^(TestRead|TestForm|TestMessageVectors|TestMessageFile)$"); err != nil {
				return nil, err
			}
			dir := filepath.Join(env.Root, "services/hub/internal/message")
			if runs, err = fuzzOne(ctx, seen, dir, "FuzzCanonical", env.Of(0, 20_000, 2_000_000)); err != nil {
				return nil, err
			}
		}
		seen.Figure("fuzzExecutions", runs)
		seen.Promise("differing pairs with one signature 0", fmt.Sprintf("%d of %s", f.pairs.Load(), frame.Number(int(f.tried.Load()))))
		seen.Volume("%d messages, %s other texts, %d tests, %s executions of the fuzz target",
			n, frame.Number(int(f.tried.Load())), tests.passed+len(tests.failed), frame.Number(runs))
		return seen, nil
	},
}

// riverDesk is the station that the messages are about.
const riverDesk = "river-desk"

// forms looks for second texts of signed messages.
type forms struct {
	env          *frame.Env
	seen         *frame.Seen
	pen          pen
	tried, pairs atomic.Int64
}

// try is one message at random: it is taken as it is, and in no other text.
func (f *forms) try(ctx context.Context, i int) {
	r := f.env.Rand(fmt.Sprintf("J3 %d", i))
	draft := f.pen.draft(aNotice, nonceOf("j3 %d", i), time.Now(), notice(riverDesk, someText(r)+"\ufffd"))
	data := f.pen.signed(draft)
	signature := ed25519.Sign(f.pen.private, data)
	whole := sealed(draft, signature)
	sum := sha256.Sum256(data)
	v, a := judged(ctx, f.env, i, whole)
	f.seen.Check(v.Valid && v.ID == "msg_"+hex.EncodeToString(sum[:]), "an honest message was answered %s", a)
	for what, text := range otherTexts(canonical(whole), draft, whole, r) {
		f.tried.Add(1)
		v, a := judged(ctx, f.env, i, text)
		if v.Valid {
			f.pairs.Add(1)
			f.seen.Wrong("%s: taken with the same signature", what)
		} else if a.Err != nil || a.Status >= 500 {
			f.seen.Wrong("%s: answered %s", what, a)
		}
	}
}

// someText has letters of every kind in which texts are spelt in more than one way.
func someText(r *rand.Rand) string {
	letters := []rune("aZ09 \"\\/\n\u00e9e\u0301\u2028\u2029\ufb33\U0001f30a<>&'")
	out := make([]rune, 1+r.IntN(40))
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	return string(out)
}

// otherTexts are texts that say something else than the message, or say it in two ways:
// a reader somewhere takes each for the message.
func otherTexts(text []byte, draft, whole map[string]any, r *rand.Rand) map[string][]byte {
	change := func(name string, value any) []byte {
		other := maps.Clone(whole)
		other[name] = value
		return canonical(other)
	}
	swap := func(old, with string) []byte { return bytes.Replace(text, []byte(old), []byte(with), 1) }
	stamp := draft["timestamp"].(int64)
	payload := draft["payload"].(map[string]any)
	less := maps.Clone(whole)
	delete(less, "appId")
	out := map[string][]byte{
		"another app":                  change("appId", "0199f0b0-1111-7d11-9a55-3f2f6c1f0b21"),
		"no app":                       canonical(less),
		"another type":                 change("type", "station.create"),
		"another passport":             change("denpaId", "0199f0a4-7c3e-7d11-9a55-3f2f6c1f0b21"),
		"another nonce":                change("nonce", nonceOf("j3 other %d", r.Uint64())),
		"another version":              change("version", 2),
		"a moment later":               change("timestamp", stamp+1),
		"another payload":              change("payload", notice(riverDesk, payload["description"].(string)+" ")),
		"a payload in other letters":   change("payload", map[string]any{"stationId": "River-desk", "description": payload["description"]}),
		"a member more":                change("memo", ""),
		"a member twice":               swap(`{"appId"`, `{"nonce":"1234567890123456","appId"`),
		"a member twice, last":         append(bytes.TrimSuffix(text, []byte("}")), `,"version":1}`...),
		"a payload before the payload": swap(`{"appId"`, `{"payload":{"stationId":"other-desk"},"appId"`),
		"a member of the payload twice": swap(`"stationId":"river-desk"`,
			`"stationId":"other-desk","stationId":"river-desk"`),
		"a member twice, once escaped":  swap(`{"appId"`, `{"\u006eonce":"1234567890123456","appId"`),
		"a member in other letters":     swap(`{"appId"`, `{"Nonce":"1234567890123456","appId"`),
		"bytes that are no UTF-8":       swap("\ufffd", "\xff"),
		"half a pair of surrogates":     swap("\ufffd", `\ud83d`),
		"pairs the wrong way round":     swap("\ufffd", `\ude00\ud83d`),
		"a longer form of UTF-8":        swap("\ufffd", "\xe0\x80\xaf"),
		"a byte of NUL":                 swap("\ufffd", "\x00"),
		"two documents":                 append(bytes.Clone(text), "{}"...),
		"a tail":                        append(bytes.Clone(text), 'x'),
		"a list around it":              append(append([]byte("["), text...), ']'),
		"a mark of byte order":          append([]byte("\xef\xbb\xbf"), text...),
		"a remark":                      swap("{", "{/* */"),
		"a comma too many":              append(bytes.TrimSuffix(text, []byte("}")), ",}"...),
		"a fraction of a millisecond":   swap(fmt.Sprint(stamp), fmt.Sprint(stamp)+".4"),
		"a number with a leading zero":  swap(fmt.Sprint(stamp), "0"+fmt.Sprint(stamp)),
		"a number with a plus":          swap(fmt.Sprint(stamp), "+"+fmt.Sprint(stamp)),
		"a number that no double holds": swap(fmt.Sprint(stamp), "1e400"),
		"a number as text":              swap(fmt.Sprint(stamp), `"`+fmt.Sprint(stamp)+`"`),
	}
	return out
}

// spelt takes one message in other spellings of the very same JSON: it is the same one.
func (f *forms) spelt(ctx context.Context) error {
	draft := f.pen.draft(aNotice, nonceOf("j3 spelt"), time.Now(), notice(riverDesk, "/\u00e9\U0001f600"))
	whole := f.pen.seal(draft)
	text := string(canonical(whole))
	first := submit(ctx, f.env, 0, []byte(text))
	if err := first.Into(http.StatusCreated, nil); err != nil {
		return fmt.Errorf("submit a message: %w", err)
	}
	members := strings.Replace(text[1:len(text)-1], `"appId":null,`, "", 1)
	for what, other := range map[string]string{
		"escapes":           strings.Replace(text, "/\u00e9\U0001f600", `\/\u00e9\uD83D\uDE00`, 1),
		"white space":       strings.NewReplacer(`,"nonce"`, " ,\n\t\"nonce\" ", `"version":1`, `"version" : 1`).Replace(text),
		"a number as 1":     strings.Replace(text, `"version":1`, `"version":1.0`, 1),
		"another order":     "{" + members + `,"appId":null}`,
		"a name in escapes": strings.Replace(text, `"version"`, `"versio\u006e"`, 1),
	} {
		a := submit(ctx, f.env, 1, []byte(other))
		f.seen.Check(a.Status == http.StatusOK && a.Text("id") == first.Text("id") && other != text, "the message with %s was answered %s", what, a)
	}
	return nil
}
