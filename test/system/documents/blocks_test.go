package documents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// block is one fenced code block of a page. kind is the first word after the fence. args are the other words; they state what
// the block is compared with.
type block struct {
	page string
	line int
	kind string
	args []string
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// runKinds lists the kinds of code blocks that TestReadme runs, in order, on a new system.
var runKinds = []string{"sh", "go", "js"}

// checkedKinds maps the kinds of code blocks that are compared with the code to the functions that check them.
var checkedKinds = map[string]func(block) error{
	"json":    checkJSON,    // of the named schema, `frames` of the websocket, or `settings` of another program
	"http":    checkHTTP,    // a request and its answer, or a `delivery` of a webhook
	"console": checkConsole, // commands that do not end or run long: the check requires that their targets exist
	"text":    checkText,    // `output` of the previous block (TestReadme compares it), a `stream`, or a `drawing`
	"path":    checkPath,    // the files of a path; TestPathsOfArchitecture compares them with the files that run
}

// blocksOf returns the fenced code blocks of a page without their indentation.
func blocksOf(t *testing.T, page string) (all []block) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repo, page))
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	indent := ""
	for i, line := range strings.Split(string(raw), "\n") {
		bare := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			kind, args, _ := strings.Cut(strings.TrimPrefix(bare, "```"), " ")
			open, indent = &block{page: page, line: i + 1, kind: kind, args: strings.Fields(args)}, strings.TrimSuffix(line, bare)
		case open != nil && bare == "```":
			all, open = append(all, *open), nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if open != nil {
		t.Errorf("the code block %s has no end", open)
	}
	return all
}

// TestEveryBlock checks that every code block of the documentation is run or compared with the code.
func TestEveryBlock(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	for _, page := range documents(t) {
		for _, b := range blocksOf(t, page) {
			counted[b.kind]++
			if slices.Contains(runKinds, b.kind) {
				continue
			}
			check := checkedKinds[b.kind]
			if check == nil {
				t.Errorf("%s: the kind %q of this block has no check", b, b.kind)
			} else if err := check(b); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
	for kind := range checkedKinds {
		if counted[kind] == 0 {
			t.Errorf("no page contains a block of the kind %q; remove its check", kind)
		}
	}
	t.Logf("blocks by kind: %v", counted)
}

// values decodes consecutive JSON values.
func values(text string) (all []any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

func checkPath(b block) error {
	if len(b.args) != 1 {
		return errors.New("the word path must be followed by the name of the path")
	}
	return nil
}

func checkJSON(b block) error {
	if len(b.args) != 1 {
		return errors.New("the word json must be followed by the name of a schema")
	}
	all, err := values(b.text)
	if err != nil || len(all) == 0 {
		return fmt.Errorf("the block contains %d JSON values (error %v)", len(all), err)
	}
	doc, err := openapi.Shared()
	if err != nil {
		return err
	}
	switch b.args[0] {
	case "frames":
		return checkFrames(all)
	case "settings":
		return checkSettings(doc, b.text)
	case "error":
		return checkErrors(doc, all)
	}
	for _, v := range all {
		if err := doc.CheckSchema(b.args[0], v); err != nil {
			return err
		}
	}
	return nil
}

// checkErrors requires that every value is an error of at least one operation.
func checkErrors(doc *openapi.Document, all []any) error {
	for _, v := range all {
		if !slices.ContainsFunc(doc.Operations, func(o *openapi.Operation) bool { return refusesWith(o, v) }) {
			return fmt.Errorf("no operation has the error %v", v)
		}
	}
	return nil
}

// refusesWith reports whether the operation can answer with the error v.
func refusesWith(o *openapi.Operation, v any) bool {
	for status, res := range o.Spec().Responses.Map() {
		media := res.Value.Content.Get("application/json")
		if status >= "400" && media != nil && media.Schema.Value.VisitJSON(v) == nil {
			return true
		}
	}
	return false
}

var serviceAddress = regexp.MustCompile(`https://(hub|api|clock)\.example(/[^"?#]*)`)

// checkSettings requires that the service addresses in the settings of another program are documented operations.
func checkSettings(doc *openapi.Document, text string) error {
	found := serviceAddress.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return errors.New("the block contains no address of a service")
	}
	for _, m := range found {
		if !slices.ContainsFunc(doc.Operations, func(o *openapi.Operation) bool { return o.Host == m[1] && o.Path == m[2] }) {
			return fmt.Errorf("the address %s is not a documented operation", m[0])
		}
	}
	return nil
}

// frameMembers lists the members of each websocket message besides `op`. A question mark marks an optional member.
var frameMembers = map[string]string{
	"auth": "id? token", "subscribe": "id? channels since?", "unsubscribe": "id? channels", "ping": "id?",
	"hello": "protocol connectionId heartbeatS limits serverTime head", "ack": "id? channels", "snapshot": "channel seq at data",
	"event": "channel seq? prev? type at data", "gap": "channel from oldest", "beat": "head at", "error": "id? error message? channel?", "pong": "id?",
}

func checkFrames(all []any) error {
	for _, v := range all {
		frame, _ := v.(map[string]any)
		op, _ := frame["op"].(string)
		members, known := frameMembers[op]
		if !known {
			return fmt.Errorf("%q is not an op of the websocket protocol", op)
		}
		left := len(frame) - 1
		for _, name := range strings.Fields(members) {
			bare := strings.TrimSuffix(name, "?")
			if _, there := frame[bare]; there {
				left--
			} else if bare == name {
				return fmt.Errorf("a message %s lacks the member %s", op, name)
			}
		}
		if left != 0 {
			return fmt.Errorf("a message %s has unknown members: %v", op, frame)
		}
	}
	return nil
}

var (
	requestLine = regexp.MustCompile(`(?m)^(GET|POST|PUT|PATCH|DELETE) (?:\{(hub|api|clock)\})?(/\S*)[ \t]*`)
	answerLine  = regexp.MustCompile(`(?m)^([1-5]\d\d)[ \t]+`)
)

// checkHTTP checks the requests of a code block, each with its body and its answer if the block contains them.
func checkHTTP(b block) error {
	if slices.Contains(b.args, "delivery") {
		return checkDelivery(b)
	}
	doc, err := openapi.Shared()
	if err != nil {
		return err
	}
	at := requestLine.FindAllStringSubmatchIndex(b.text, -1)
	if len(at) == 0 || at[0][0] != 0 {
		return errors.New("the block must begin with a request line")
	}
	for i, m := range at {
		end := len(b.text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		host := "hub"
		if m[4] >= 0 {
			host = b.text[m[4]:m[5]]
		}
		o := doc.Lookup(host, b.text[m[2]:m[3]], b.text[m[6]:m[7]])
		if o == nil {
			return fmt.Errorf("%s is not a route of the %s", strings.TrimSpace(b.text[m[0]:m[1]]), host)
		}
		if err := fits(o, b.text[m[1]:end]); err != nil {
			return fmt.Errorf("%s: %w", o.Name(), err)
		}
	}
	return nil
}

// fits checks the text that follows a request line in a code block against the operation: first the body, then the answer.
func fits(o *openapi.Operation, rest string) error {
	body, answer, status := rest, "", ""
	if m := answerLine.FindStringSubmatchIndex(rest); m != nil {
		body, status, answer = rest[:m[0]], rest[m[2]:m[3]], rest[m[1]:]
	}
	if strings.Contains(body, "{") {
		if o.Spec().RequestBody == nil {
			return errors.New("the operation has no request body")
		}
		if err := fitsMedia(o.Spec().RequestBody.Value.Content, body); err != nil {
			return fmt.Errorf("request body: %w", err)
		}
	}
	if status == "" {
		return nil
	}
	res := o.Spec().Responses.Value(status)
	if res == nil {
		return fmt.Errorf("the operation has no answer with the status %s", status)
	}
	if err := fitsMedia(res.Value.Content, answer); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func fitsMedia(content openapi3.Content, text string) error {
	media := content.Get("application/json")
	all, err := values(text)
	if err != nil || len(all) != 1 || media == nil {
		return fmt.Errorf("%d JSON values, want 1 (error %v)", len(all), err)
	}
	return media.Schema.Value.VisitJSON(all[0], openapi3.MultiErrors())
}

// checkDelivery compares the headers of a webhook delivery with the code that sends it, and its events with the
// messages of the websocket.
func checkDelivery(b block) error {
	head, body, ok := strings.Cut(b.text, "\n\n")
	all, err := values(body)
	if !ok || err != nil || len(all) != 1 {
		return fmt.Errorf("%d JSON values, want 1 (error %v)", len(all), err)
	}
	var source strings.Builder
	files, err := filepath.Glob(filepath.Join(repo, "services/api/internal/delivery/*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		source.Write(raw)
	}
	for _, line := range strings.Split(head, "\n")[1:] {
		if name, _, _ := strings.Cut(line, ":"); !strings.Contains(source.String(), `"`+name+`"`) {
			return fmt.Errorf("webhook deliveries do not send the header %s", name)
		}
	}
	events, _ := all[0].(map[string]any)["events"].([]any)
	if len(events) == 0 {
		return errors.New("the delivery contains no events")
	}
	return checkFrames(events)
}

// checkConsole requires that the targets, directories and scripts exist that the make, go, npm and git commands of a code block
// name.
func checkConsole(b block) error {
	makefile, err := os.ReadFile(filepath.Join(repo, "Makefile"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(b.text) {
		words := strings.Fields(line)
		switch {
		case len(words) < 2:
			return fmt.Errorf("the line %q is not a command", line)
		case words[0] == "make":
			if !strings.Contains(string(makefile), "\n"+words[1]+": ") {
				return fmt.Errorf("the Makefile has no target %s", words[1])
			}
		case words[0] == "npm" && len(words) == 4 && words[2] == "--prefix":
			raw, err := os.ReadFile(filepath.Join(repo, words[3], "package.json"))
			if err != nil {
				return err
			}
			if words[1] != "ci" && !strings.Contains(string(raw), `"`+words[1]+`": "`) {
				return fmt.Errorf("%s has no script %s", words[3], words[1])
			}
		case words[0] == "git" && words[1] == "clone" && strings.HasPrefix(words[2], "https://github.com/signalcast/signalcast"):
		case words[0] == "go":
			dir := repo
			for i, w := range words {
				if w == "-C" {
					dir = filepath.Join(repo, words[i+1])
				} else if strings.HasPrefix(w, "./") {
					if _, err := os.Stat(filepath.Join(dir, w)); err != nil {
						return err
					}
				}
			}
		default:
			return fmt.Errorf("the command %q has no check", strings.TrimSpace(line))
		}
	}
	return nil
}

func checkText(b block) error {
	switch {
	case slices.Equal(b.args, []string{"output"}): // TestReadme compares it
		return nil
	case slices.Equal(b.args, []string{"drawing"}):
		if !strings.ContainsAny(b.text, "─│►▼└┌") {
			return errors.New("the block is empty")
		}
		return nil
	case slices.Equal(b.args, []string{"stream"}):
		return checkStream(b.text)
	}
	return errors.New("the word text must be followed by output, stream or drawing")
}

// checkStream checks a block of server-sent events. Their data must be messages of the websocket.
func checkStream(text string) error {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "", "retry", "id", "event":
		case "data":
			all, err := values(value)
			if err != nil {
				return fmt.Errorf("%s: %w", value, err)
			}
			if _, end := all[0].(map[string]any)["code"]; !end {
				if err := checkFrames(all); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%q is not a field of server-sent events", name)
		}
	}
	return nil
}
