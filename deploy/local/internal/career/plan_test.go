package career

import (
	"reflect"
	"regexp"
	"testing"
)

func TestSameSeedSameCareer(t *testing.T) {
	t.Parallel()
	questions, cast := Invent(4, 300), Cast(4, 60)
	if !reflect.DeepEqual(questions, Invent(4, 300)) || !reflect.DeepEqual(cast, Cast(4, 60)) ||
		!reflect.DeepEqual(Plan(4, cast, questions), Plan(4, cast, questions)) {
		t.Error("the same seed gave two careers")
	}
	if reflect.DeepEqual(questions, Invent(5, 300)) || reflect.DeepEqual(cast, Cast(5, 60)) || reflect.DeepEqual(Plan(4, cast, questions), Plan(5, cast, questions)) {
		t.Error("two seeds gave one career")
	}
	if !reflect.DeepEqual(Invent(4, 400)[:300], questions) || !reflect.DeepEqual(Cast(4, 80)[:60], cast) {
		t.Error("more of them changed the first ones")
	}
	short := Plan(4, cast, questions[:100])
	for i, list := range Plan(4, cast, questions) {
		if n := len(short[i]); !reflect.DeepEqual(list[:n], short[i][:n:n]) {
			t.Fatal("more questions changed the calls on the first ones")
		}
	}
}

func TestInventedQuestions(t *testing.T) {
	t.Parallel()
	texts, verdicts, low := map[string]bool{}, map[Verdict]int{}, 0
	for _, q := range Invent(1, 2000) {
		if texts[q.Text] || q.YesBps < 5 || q.YesBps > 9995 || len(q.Text) > 300 {
			t.Errorf("%+v", q)
		}
		texts[q.Text] = true
		verdicts[q.Verdict]++
		if q.YesBps < 5000 {
			low++
		}
	}
	if verdicts[Invalid] == 0 || verdicts[Yes] < 400 || verdicts[No] < 1000 || low < 1000 || low > 1700 {
		t.Error(verdicts, low)
	}
}

func TestCast(t *testing.T) {
	t.Parallel()
	cast, other := Cast(1, 1500), Cast(2, 1500)
	names, kinds, habits := map[string]bool{}, map[Kind]int{}, map[Habit]int{}
	form := regexp.MustCompile(`^[a-z][a-z0-9-]{2,26}$`) // with a round, one word of 32
	for i, o := range cast {
		if o.Index != i || names[o.Name] || !form.MatchString(o.Name) || o.Name != other[i].Name {
			t.Errorf("operator %d: %+v", i, o)
		}
		names[o.Name] = true
		kinds[o.Kind]++
		habits[o.Habit]++
	}
	if kinds[House] != 1 || len(kinds) != 6 || kinds[Bot] != 125 || len(habits) != 4 {
		t.Error(kinds, habits)
	}
	if o := cast[0]; o.Kind != House || o.Habit != Exact || o.Automated() || !cast[5].Automated() {
		t.Error("who belongs where")
	}
}

func TestEachQuestionIsCalledByTen(t *testing.T) {
	t.Parallel()
	for _, n := range []int{MinOperators, 11, 200} {
		questions, cast := Invent(9, 700), Cast(9, n)
		callers := make([]map[int]bool, len(questions))
		repaired, guarded, takes := 0, 0, 0
		for i, list := range Plan(9, cast, questions) {
			for k, c := range list {
				q := questions[c.Question]
				if callers[c.Question] == nil {
					callers[c.Question] = map[int]bool{}
				}
				if c.Operator != i || callers[c.Question][i] || k > 0 && list[k-1].Question >= c.Question {
					t.Fatalf("%+v comes twice or in the wrong place", c)
				}
				callers[c.Question][i] = true
				if c.Price < 0 || c.Price > full || c.Confidence < 0 || c.Confidence > 100 {
					t.Fatalf("%+v", c)
				}
				w := Expect(c, q, Tolerance)
				if w.Stored != c.Price {
					repaired++
				}
				if w.Basis != w.Stored {
					guarded++
				}
				if c.Event != "" {
					takes++
				}
			}
		}
		for q, who := range callers {
			if len(who) < MinOperators {
				t.Fatalf("question %d is called by %d", q, len(who))
			}
		}
		if n == 200 && (repaired < 50 || guarded < 50 || takes < 50) {
			t.Errorf("%d repaired, %d guarded, %d takes: the rules are hardly touched", repaired, guarded, takes)
		}
	}
}

func TestSkillShows(t *testing.T) {
	t.Parallel()
	questions, cast := Invent(3, 3000), Cast(3, 200)
	tallies := make([]Tally, len(cast))
	for i, list := range Plan(3, cast, questions) {
		for _, c := range list {
			tallies[i].Add(Expect(c, questions[c.Question], Tolerance))
		}
	}
	mean := map[string]float64{}
	for _, k := range Kinds(cast, tallies) {
		mean[k.Title] = k.Mean()
	}
	if mean["informed +45%"] < mean["informed +20%"] || mean["informed +20%"] < mean["coin"] || mean["informed +45%"] < 5 {
		t.Error("knowing more does not pay", mean)
	}
	if mean["favourites"] > 2 || mean["contrarian"] > 2 || mean["coin"] > 2 {
		t.Error("knowing nothing pays", mean)
	}
}
