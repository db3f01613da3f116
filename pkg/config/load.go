package config

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Checker is implemented by config structs that check their fields. Check runs after all fields have been read.
type Checker interface{ Check(*Report) }

// InvalidSettings is the error of Load and LoadFrom: the sorted list of invalid settings, one line each.
type InvalidSettings []string

// Error implements error. It returns the lines, joined by line feeds.
func (m InvalidSettings) Error() string { return strings.Join(m, "\n") }

// Load reads a T from the environment of the process. If settings are invalid, the error is of type InvalidSettings and the T is
// incomplete.
func Load[T any]() (T, error) {
	environ := make(map[string]string)
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		environ[name] = value
	}
	return LoadFrom[T](environ)
}

// LoadFrom is like Load, but reads the settings from environ instead of the environment of the process.
func LoadFrom[T any](environ map[string]string) (T, error) {
	var cfg T
	r := &Report{}
	// An error here is a fault of the program: the struct has a tag or type that the library does not support.
	params, err := env.GetFieldParamsWithOptions(&cfg, env.Options{Environment: map[string]string{}})
	if err != nil {
		return cfg, err
	}
	keys := make([]string, 0, len(params))
	for _, p := range params {
		keys = append(keys, p.Key)
	}
	values := withFiles(r, environ, keys)
	r.env.set(r, values["ENV"])
	if err := env.ParseWithOptions(&cfg, env.Options{Environment: values}); err != nil {
		addParseErrors[T](r, err, values, keys)
	}
	check(r, reflect.ValueOf(&cfg).Elem())
	r.rejectDuplicateSecrets()
	if len(r.mistakes) == 0 {
		return cfg, nil
	}
	slices.Sort(r.mistakes)
	return cfg, InvalidSettings(slices.Compact(r.mistakes))
}

// withFiles returns a copy of environ. For each of keys, if KEY_FILE is set, the value of KEY is the content of the file with
// that path. withFiles adds a mistake to r if KEY and KEY_FILE are both set, or if the file cannot be read or is larger than
// maxFile.
func withFiles(r *Report, environ map[string]string, keys []string) map[string]string {
	values := make(map[string]string, len(environ))
	for name, value := range environ {
		values[name] = value
	}
	for _, key := range keys {
		name := key + "_FILE"
		path := environ[name]
		if path == "" || slices.Contains(keys, name) {
			continue
		}
		if environ[key] != "" {
			r.Fail(key, "and "+name+" are both set")
			continue
		}
		content, err := readFile(path)
		if err != nil {
			r.Fail(name, "names a file that cannot be read or has more than "+strconv.Itoa(maxFile>>10)+" KiB")
			continue
		}
		values[key] = content
	}
	return values
}

// maxFile is the maximum size in bytes of a file that a setting KEY_FILE names.
const maxFile = 64 << 10

func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxFile {
		return "", errors.New("file is too large")
	}
	return string(bytes.TrimRight(b, "\r\n")), nil
}

// addParseErrors adds one mistake for each required setting that is missing or empty, and for each setting that cannot be parsed.
// The parse errors of the library contain the value and the Go field name instead of the setting, so addParseErrors parses each
// setting alone to find the invalid ones.
func addParseErrors[T any](r *Report, err error, values map[string]string, keys []string) {
	var all env.AggregateError
	if errors.As(err, &all) {
		for _, one := range all.Errors {
			var unset env.VarIsNotSetError
			var empty env.EmptyVarError
			switch {
			case errors.As(one, &unset):
				r.Fail(unset.Key, "is not set")
			case errors.As(one, &empty):
				r.Fail(empty.Key, "is empty")
			}
		}
	}
	for _, key := range keys {
		if values[key] == "" {
			continue
		}
		var probe T
		err := env.ParseWithOptions(&probe, env.Options{Environment: map[string]string{key: values[key]}})
		var bad env.ParseError
		if errors.As(err, &bad) {
			r.Fail(key, "is not a valid "+kindOf(bad.Type))
		}
	}
	if len(r.mistakes) == 0 { // an error must never be dropped
		r.Fail("environment", "cannot be read")
	}
}

func kindOf(t reflect.Type) string {
	switch name := t.String(); name {
	case "time.Duration":
		return "duration (like 30s)"
	case "bool":
		return "truth value (true or false)"
	case "int", "int32", "int64", "uint16", "uint32":
		return "integer"
	case "float64":
		return "number"
	case "[]netip.Prefix":
		return "list of CIDR ranges"
	default:
		return "value of type " + name
	}
}

// check calls the method Check of each struct in v that implements Checker. Nested structs are checked before the struct that
// contains them.
func check(r *Report, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			check(r, v.Field(i))
		}
	}
	if c, ok := v.Addr().Interface().(Checker); ok {
		c.Check(r)
	}
}
