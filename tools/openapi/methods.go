package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// method is a method of a client library: its name with the names of its arguments, and the operation that it sends.
type method struct{ call, operation string }

// methodsPage returns the page of docs that lists the methods of both libraries side by side. It reads their sources. It returns
// an error if it finds no operation for a method other than the websocket of the feed.
func methodsPage(root map[string]any, goDir, tsDir string) ([]byte, error) {
	byID, byRoute := map[string]operation{}, map[string]operation{}
	for _, op := range operations(root) {
		id, _ := op.body["operationId"].(string)
		byID[strings.ToLower(id)], byRoute[strings.ToUpper(op.method)+" "+op.path] = op, op
	}
	inGo, subjects, err := goMethods(goDir, byID)
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(tsDir, "subjects.ts"))
	if err != nil {
		return nil, err
	}
	inTS := tsMethods(string(source))
	var b bytes.Buffer
	b.WriteString("# The methods of the libraries\n\nUse this page to find the method of a route, and the route of a method, in both libraries. " +
		"`tools/gen.sh` writes it from the sources of the\nlibraries and from [openapi.yaml](protocol/openapi.yaml). Every method also takes a context (Go) " +
		"or an abort signal (TypeScript).\n[The libraries](sdk.md) describes options, retries and errors, [limits](limits.md) the limits.\n\n" +
		"Operations without a method are in `Hub`, `API` and `Clock` of the Go client and in `request` of the TypeScript client.\n")
	for _, subject := range subjects {
		names := slices.Sorted(maps.Keys(inGo[subject]))
		for name := range inTS[subject] {
			if inGo[subject][name].call == "" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		fmt.Fprintf(&b, "\n## %s\n\n| Go: `c.%s` | TypeScript: `c.%s` | route | credential | limit |\n|---|---|---|---|---|\n",
			subject, subject, strings.ToLower(subject[:1])+subject[1:])
		for _, name := range names {
			g, ts := inGo[subject][name], inTS[subject][name]
			op, known := byRoute[cmp.Or(g.operation, ts.operation)]
			route, credential, limit := "websocket `{api}/ws`", "none; `me`: operator key", "20 connections of an IP address, 5 of a key"
			switch {
			case !known && subject+" "+name != "Live feed":
				return nil, fmt.Errorf("the method %s of %s sends no operation of the document", name, subject)
			case known:
				route = "`" + strings.ToUpper(op.method) + " " + op.path + "`"
				credential, limit = credentialOf(op)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", quoted(g.call), quoted(ts.call), route, credential, limit)
		}
	}
	return b.Bytes(), nil
}

// quoted returns a text as code, or a dash for a method that a library does not have.
func quoted(text string) string {
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

// credentialOf returns the credentials of an operation and the limit of its requests, as docs/limits.md lists them.
func credentialOf(op operation) (credential, limit string) {
	names := map[string]string{
		"operatorKey": "operator key", "appToken": "app token", "identityToken": "identity token", "sessionId": "session", "adminSecret": "admin secret",
	}
	var all []string
	open := len(asList(op.body["security"])) == 0
	for _, way := range asList(op.body["security"]) {
		open = open || len(asMap(way)) == 0
		for scheme := range asMap(way) {
			if name := names[scheme]; name != "" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	server, _ := asMap(append(asList(op.body["servers"]), map[string]any{})[0])["url"].(string)
	switch api := strings.HasPrefix(server, "https://api"); {
	case strings.HasPrefix(op.path, protocol+"/oauth/"):
		return "none", "30 a minute of an app and IP address"
	case op.method == "post" && op.path == protocol+"/messages":
		return "none", "30 a minute of a signing key"
	case open:
		return "none", "600 a minute of an IP address"
	case api && slices.Contains(all, "operator key"):
		limit = "120 a minute"
	case slices.Contains(all, "operator key"), slices.Contains(all, "app token"):
		limit = "60 a minute"
	default:
		limit = "120 a minute"
	}
	credential = strings.Join(all, ", ")
	if permission, _ := op.body["x-signalcast-permission"].(string); permission != "" {
		credential += " (`" + permission + "`)"
	}
	return credential, limit
}

var (
	goField  = regexp.MustCompile(`(?m)^\t([A-Z]\w*) +([A-Z]\w*)$`)
	goMethod = regexp.MustCompile(`(?ms)^func \(\w+ (\w+)\) ([A-Z]\w*)\(ctx context\.Context(?:, )?(.*?)\) [^\n]*\{\n(.*?)^\}`)
	goCall   = regexp.MustCompile(`\.(?:Hub|API|Clock)\.(\w+)\(`)
	goOwn    = regexp.MustCompile(`return \w\.([A-Z]\w*)\(ctx`)
	goName   = regexp.MustCompile(`(\w+)(?: [^,]+)?(?:, |$)`)
	tsClass  = regexp.MustCompile(`(?ms)^export class (\w+) extends Subject \{\n(.*?)^\}`)
	tsMethod = regexp.MustCompile(`(?m)^  (?:async )?\*?(\w+)(?: = )?\(`)
	tsRoute  = regexp.MustCompile(`'(GET|PUT|POST|PATCH|DELETE)', '(/[^']+)'|paged\('(/[^']+)'`)
)

// goMethods returns the methods of the subjects of the Go client by subject and by lower-case name, and the subjects in the order of
// the type Client.
func goMethods(dir string, byID map[string]operation) (map[string]map[string]method, []string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	all, own := map[string]map[string]method{}, map[string]string{}
	var subjects []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".gen.go") {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		if filepath.Base(name) == "client.go" {
			for _, m := range goField.FindAllStringSubmatch(string(raw), -1) {
				if m[1] == m[2] && !slices.Contains(subjects, m[1]) && m[1] != "Retry" {
					subjects = append(subjects, m[1])
				}
			}
		}
		for _, m := range goMethod.FindAllStringSubmatch(string(raw), -1) {
			if all[m[1]] == nil {
				all[m[1]] = map[string]method{}
			}
			out := method{call: m[2] + "(" + goArguments(m[3]) + ")"}
			if calls := goCall.FindAllStringSubmatch(m[4], -1); len(calls) > 0 {
				id := strings.ToLower(strings.TrimSuffix(calls[len(calls)-1][1], "WithBody"))
				if op, ok := byID[id]; ok {
					out.operation = strings.ToUpper(op.method) + " " + op.path
				}
			} else if other := goOwn.FindStringSubmatch(m[4]); other != nil {
				own[m[1]+" "+strings.ToLower(m[2])] = strings.ToLower(other[1])
			}
			all[m[1]][strings.ToLower(m[2])] = out
		}
	}
	for key, other := range own {
		subject, name, _ := strings.Cut(key, " ")
		out := all[subject][name]
		out.operation = all[subject][other].operation
		all[subject][name] = out
	}
	return all, subjects, nil
}

// goArguments returns the names of a list of parameters.
func goArguments(list string) string {
	var names []string
	for _, m := range goName.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return strings.Join(names, ", ")
}

// tsMethods returns the methods of the subjects of the TypeScript client by subject and by lower-case name.
func tsMethods(source string) map[string]map[string]method {
	all := map[string]map[string]method{}
	for _, class := range tsClass.FindAllStringSubmatch(source, -1) {
		all[class[1]] = map[string]method{}
		body := class[2]
		at := tsMethod.FindAllStringSubmatchIndex(body, -1)
		for i, m := range at {
			end := len(body)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			name, rest := body[m[2]:m[3]], body[m[1]:end]
			out := method{call: name + "(" + tsArguments(rest) + ")"}
			if routes := tsRoute.FindAllStringSubmatch(rest, -1); len(routes) > 0 {
				last := routes[len(routes)-1]
				out.operation = cmp.Or(last[1], "GET") + " " + cmp.Or(last[2], last[3])
			}
			all[class[1]][strings.ToLower(name)] = out
		}
	}
	return all
}

// tsArguments returns the names of the parameters of a method. rest begins after its opening parenthesis. Options that only
// abort the request are omitted.
func tsArguments(rest string) string {
	var names []string
	depth, start := 0, 0
	for i, c := range rest {
		switch {
		case strings.ContainsRune("({[<", c):
			depth++
		case c == '>' && i > 0 && rest[i-1] == '=': // the arrow of a function type
		case depth > 0 && strings.ContainsRune(")}]>", c):
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			parameter := strings.TrimSpace(rest[start:i])
			start = i + 1
			switch {
			case parameter == "", strings.Contains(parameter, "Ending"):
			case strings.Contains(parameter, ": List<"):
				names = append(names, "query")
			case strings.HasPrefix(parameter, "{"):
				names = append(names, "options")
			default:
				name, _, _ := strings.Cut(parameter, ":")
				names = append(names, strings.TrimSuffix(name, "?"))
			}
			if c == ')' {
				return strings.Join(names, ", ")
			}
		}
	}
	return strings.Join(names, ", ")
}
