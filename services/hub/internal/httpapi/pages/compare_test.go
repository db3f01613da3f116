package pages_test

import (
	"testing"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
)

// TestComparePage checks the page that compares two forecasters: the form in place of a missing or invalid one, the numbers of both, and
// their calls on the same markets.
func TestComparePage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	tide := b.ledger.AddOperator("tide")
	b.ledger.AddOperator("calm")
	b.addCalls(filedCall{ID: "0199f0f0-0000-7000-8000-0000000000ab", Owner: tide.GetId(), Market: gauge, Yes: true, Price: 3150, At: b.clock.Now()})
	b.ledger.Lock()
	b.ledger.Skills["tide  all"] = &recordv1.GetSkillResponse{Report: reported(t, [4]int64{5000, 0, 10, 9})}
	b.ledger.Unlock()
	for path, c := range map[string]struct {
		status int
		words  []string
	}{
		"/compare":                    {200, []string{`name="a" value=""`, `name="b" value=""`, "!noindex", "!<h2"}},
		"/compare?a=@Mara_K":          {200, []string{`name="a" value="mara_k"`, `name="b" value=""`, "!<h2"}},
		"/compare?a=mara_k&b=MARA_K":  {400, []string{"Name another forecaster than @mara_k.", `aria-invalid="true"`, "!<h2"}},
		"/compare?a=mara_k&b=no_such": {404, []string{`value="mara_k"`, "No forecaster is called @no_such.", "!<h2"}},
		"/compare?a=%3Cb%3E&b=tide":   {404, []string{"No forecaster is called @&lt;b&gt;.", "!<h2"}},
		"/compare?a=mara_k&b=calm":    {200, []string{"They have called no market in common.", "No resolved call"}},
		"/compare?a=mara_k&b=tide": {200, []string{
			"<td class=\"num n\">+48</td>", "4 of 41", "95% interval (pp)", "−5.1 to +39.8", "Brier score of the price", "Calibration of @mara_k",
			"No resolved call with a stated confidence.", question, "NO</span> 68.5¢", "YES</span> 31.5¢", `href="/receipts/` + callID, "noindex", "!unavailable",
		}},
	} {
		t.Run(path, func(t *testing.T) { has(t, b.get(path), c.status, c.words...) })
	}
	has(t, b.get("/u/mara_k"), 200, `href="/compare?a=mara_k"`)
}

// TestComparePageWithoutParts checks that a part that cannot be read is missing and does not hide the others.
func TestComparePageWithoutParts(t *testing.T) {
	t.Parallel()
	checkParts(t, "/compare?a=mara_k&b=tide", "/compare", map[string][2]string{
		"GetOperatorRecord": {"The records are unavailable.", "4 of 41"},
		"GetSkill":          {"Statistics are unavailable.", "−5.1 to +39.8"},
		"ListCalls":         {"Calls are unavailable.", "no market in common"},
	}, func(b *fixture) {
		b.recorded()
		b.ledger.AddOperator("tide")
	})
}
