package history

import (
	"fmt"
	"math/rand/v2"
)

// forms contains formats of questions. Each format takes a place, a number and a day.
var forms = []string{
	"Will the river gauge at %s read above %d cm before %s?",
	"Will %s win the football match by %d goals or more on %s?",
	"Will the film \"%s\" take more than %d million at the box office by %s?",
	"Will the album \"%s\" reach the top %d of the charts by %s?",
	"Will the bitcoin fund of %s hold more than %d coins on %s?",
	"Will the mayor of %s win the election with more than %d%% of the vote by %s?",
	"Will the central bank of %s raise its interest rate by %d basis points by %s?",
	"Will the rocket of %s reach orbit within %d attempts by %s?",
	"Will the fashion house %s show %d looks on the runway by %s?",
	"Will the ceasefire near %s last for %d days before %s?",
	"Will the software of %s pass %d of its benchmarks by %s?",
}

var places = []string{
	"Harrowmere", "Ostrava Bridge", "Kelmscott", "Vantor", "Sable Quay", "Mirador", "Thornbury", "Lindholm", "Pale Harbour", "Corvane",
	"Aldermoor", "Westray", "Dunmarsh", "Calder Point", "Iron Orchard", "Bellwether", "Northgate", "Selwyn", "Marchetti", "Quillon",
	"Redmere", "Tarn Hollow", "Eastlight", "Foxglove", "Grand Meridian",
}

var days = []string{
	"9 January", "31 January", "14 February", "1 March", "20 March", "15 April", "1 May", "30 June", "4 July", "1 September", "12 October", "24 December",
}

// question returns the title of the i-th market. Each i has a different pair of place and number, so titles are unique.
func question(r *rand.Rand, i int) string {
	form := forms[r.IntN(len(forms))]
	return fmt.Sprintf(form, places[i%len(places)], 2+3*(i/len(places))+r.IntN(3), days[r.IntN(len(days))])
}

var takes = map[string][]string{
	"YES": {"The price lags what is already known.", "The second half of the season is not in the price.", "Cheap for what it is.", "The trend carries this over the line."},
	"NO":  {"Too dear for the time that is left.", "It has to go right three times in a row.", "Nothing ever happens.", "The crowd mistakes loud for likely."},
}
