package career

import (
	"slices"
	"strings"
	"testing"
)

const head = "source,id,question,priced_at,yes_bps,outcome_yes,resolved_on,closes_at,url\n"

func TestReadGoodRows(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"as it comes": head +
			"polymarket,0xf5,\"Will \"\"A, B\"\" win?\",2024-07-12T00:00:00+00:00,4150,0,2024-08-10,2024-08-10T00:00:00+00:00,https://example.test/1\n" +
			"manifold,VB1,Will it rain?,2024-07-12T00:00:00+00:00,8795,1,2024-08-11,2024-08-13T13:30:00+00:00,https://example.test/2\n",
		"mark, returns, other order, more and missing columns": "\ufeffnote, QUESTION ,outcome_yes,yes_bps,id,source\r\n" +
			"x,\"Will \"\"A, B\"\" win?\",false, 4150,0xf5,polymarket\r\n,,,\r\n" +
			"\r\n,Will it rain?,YES,8795.0,VB1,manifold,and more\r\n",
	} {
		f, err := Read(strings.NewReader(text))
		if err != nil || len(f.Refused) > 0 || len(f.Notes) > 0 {
			t.Errorf("%s: %v %v %v", name, err, f.Refused, f.Notes)
		}
		want := []Question{
			{Source: "polymarket", ID: "0xf5", Text: `Will "A, B" win?`, YesBps: 4150, Verdict: No},
			{Source: "manifold", ID: "VB1", Text: "Will it rain?", YesBps: 8795, Verdict: Yes},
		}
		if !slices.Equal(f.Questions, want) {
			t.Errorf("%s: %+v", name, f.Questions)
		}
	}
}

func TestReadRefusesRows(t *testing.T) {
	t.Parallel()
	good := "s,good,Will it rain?,2024-07-12,5000,1,2024-08-11,2024-08-13,u\n"
	for row, want := range map[string]string{
		"s,1,Will it?,,10001,1,,,":                      "yes_bps is 10001, which no price can be; it must be from 0 to 10000",
		"s,1,Will it?,,-1,1,,,":                         "yes_bps is -1, which no price can be; it must be from 0 to 10000",
		"s,1,Will it?,,0.315,1,,,":                      "yes_bps is 0.315; it must be a whole number, 10000 for certainty",
		"s,1,Will it?,,NaN,1,,,":                        `yes_bps is "NaN"; it must be a whole number from 0 to 10000`,
		"s,1,Will it?,,cheap,1,,,":                      `yes_bps is "cheap"; it must be a whole number from 0 to 10000`,
		"s,1,Will it?,,,1,,,":                           "yes_bps is empty; it must be a whole number from 0 to 10000",
		"s,1,Will it?,,5000,2,,,":                       `outcome_yes is "2"; it must be 1, 0 or invalid`,
		"s,1,Will it?,,5000,,,,":                        "outcome_yes is empty; only questions with an answer can be replayed",
		"s,1, ,,5000,1,,,":                              "there is no question",
		"s,1,Will \xff it?,,5000,1,,,":                  "the question is not UTF-8 text",
		"s,1,Will it?,yesterday,5000,1,,,":              `priced_at is "yesterday", which is not a date`,
		"s,1,Will it?,,5000,1,2024-02-30,,":             `resolved_on is "2024-02-30", which is not a date`,
		"s,good,Will it again?,,5000,1,,,":              "s good is already in line 2",
		"s,1,Will it?":                                  "yes_bps is empty; it must be a whole number from 0 to 10000",
		"s,1,Will \"it\" be?,,5000,1,,,":                "the row cannot be read as comma-separated text: bare \" in non-quoted-field",
		"s,1," + strings.Repeat("é", 2001) + ",,5,1,,,": "the question is longer than 2000 characters",
	} {
		f, err := Read(strings.NewReader(head + good + row + "\n" + strings.Replace(good, "good", "after", 1)))
		if err != nil {
			t.Errorf("%.40s: %v", row, err)
			continue
		}
		if len(f.Questions) != 2 || len(f.Refused) != 1 || f.Refused[0].Line != 3 || f.Refused[0].Text != want {
			t.Errorf("%.40s: %d questions, refused %v, want line 3: %s", row, len(f.Questions), f.Refused, want)
		}
	}
}

func TestReadRefusesFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "the file is empty; its first line must name the columns",
		"id,question,outcome_yes\n":       "line 1: the column yes_bps is missing",
		head + "\n":                       "the file has no row that can be used",
		"question,question,yes_bps\n":     "line 1: the column question is there twice",
		"<html><body>\n":                  "line 1: the column question is missing",
		head + "s,1,Will it?,,x,1,,,\n":   "the file has no row that can be used",
		head + "s,1,\"Will it?,,5,1,,,\n": "the file has no row that can be used",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestOddDatesAreNoted(t *testing.T) {
	t.Parallel()
	f, err := Read(strings.NewReader(head + "s,1,Will it?,2026-03-06T00:00:00+00:00,8589,1,2026-03-04,,\ns,2,Will it?,2026-03-06T09:00:00+00:00,8589,1,2026-03-06,,\n"))
	if err != nil || len(f.Questions) != 2 || len(f.Notes) != 1 || f.Notes[0].String() != "line 2: its price was taken after its answer was known" {
		t.Error(err, f.Questions, f.Notes)
	}
}
