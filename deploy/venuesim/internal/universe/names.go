package universe

// Invented people, places and things. None is meant to be a real one.
var (
	towns = []string{
		"Ostrava Bend", "Port Calder", "Lunmouth", "Vessel Bay", "Harrowgate Falls", "Nyborg Sound", "Tamsin Cross",
		"Kestrel Point", "Saltmere", "Orrin Hill", "Belcourt", "Marrow Creek", "Dunvale", "Aldersea", "Quillport", "Ravensholm",
		"Cinder Lake", "Westermere", "Pellham", "Tidewater Junction", "Gallowmoor", "Stellan", "Brackwater", "Ferncliff",
	}
	countries = []string{
		"Averland", "Nordmark", "the Sable Islands", "Karvonia", "Eastmarch", "Lusatra", "Melindor", "Tarsis", "Veldt Republic",
		"Corvinia", "Ashmere", "the Delta Federation", "Sundara", "Halvarra", "Ostmark", "Pelagia",
	}
	people = []string{
		"Ada Quill", "Bo Reed", "Cyrus Vale", "Dana Whitlock", "Emil Strand", "Freya Maddox", "Gideon Park", "Hana Ostrow",
		"Ivo Marchetti", "June Hallow", "Kofi Brandt", "Lena Sorrel", "Milo Achterberg", "Nadia Finch", "Oskar Lind", "Petra Vane",
		"Quentin Moss", "Rosa Delgado-Hart", "Sami Torvald", "Tess Arkwright", "Ulla Prentice", "Viktor Samsa", "Willa Crane",
		"Xavier Dunmore", "Yara Benedek", "Zeno Okafor", "Ines Calloway", "Jonah Reyes-Holt", "Mara Lindqvist", "Theo Ashgrove",
	}
	parties = []string{
		"Harbour Union", "Civic Front", "Green Assembly", "Liberal Compact", "Labour Accord", "National Orchard", "Progress Bloc",
		"Farmers' League", "Reform Circle", "Unity List",
	}
	clubs = []string{
		"Ochre Rovers", "Umber United", "Saltmere Athletic", "Port Calder City", "Lunmouth Wanderers", "Kestrel Point FC",
		"Belcourt Rangers", "Dunvale Town", "Vessel Bay Albion", "Quillport County", "Harrowgate Vale", "Aldersea Argyle",
		"Ravensholm Thistle", "Ferncliff Orient", "Pellham Hotspurs", "Westermere Villa",
	}
	squads = []string{
		"Cinder Lake Herons", "Orrin Hill Bears", "Brackwater Pilots", "Stellan Comets", "Tidewater Rays", "Marrow Creek Mules",
		"Gallowmoor Wolves", "Nyborg Sailors", "Tamsin Cross Kings", "Averland Rockets", "Nordmark Elks", "Sable Sharks",
	}
	leagues  = []string{"Meridian Cup", "Northern League", "Coastal Conference", "Continental Shield", "Premier Circuit", "Winter Series"}
	players  = []string{"Rafe Dalton", "Iker Monzo", "Luka Brandic", "Tobias Ferro", "Anders Nyqvist", "Carlos Venn", "Mika Oduya", "Sven Hartog", "Dario Keller", "Jules Bonnaire"}
	coins    = []string{"Zedcoin", "Orbit", "Lumen Cash", "Kestrel", "Basalt", "Quanta", "Harbor", "Nimbus", "Tessera", "Ironleaf"}
	chains   = []string{"Basalt Chain", "Orbit Network", "Quanta Layer", "Nimbus Rollup", "Tessera Ledger"}
	bands    = []string{"The Paper Tigers", "Velvet Meridian", "Glass Harbour", "Night Ferries", "Sorrel", "Cobalt Youth", "Lena Sorrel", "The Long Tide", "Marble Radio", "Juniper Sky", "Echo Parlour", "Saint Alder"}
	songs    = []string{"Low Water", "Paper Moonlight", "Ninety Nights", "Halogen", "Cinnamon Static", "Go Slow, Go Home", "Glasshouse", "Northbound"}
	films    = []string{"The Last Lamplighter", "Saltwater Kings", "A Winter in Belcourt", "Orbit Nine", "The Cartographer's Daughter", "Iron Orchard", "Midnight Regatta", "Echoes of Nyborg", "The Quiet Season", "Marrow"}
	series   = []string{"Harbour Nights", "The Assembly", "Cold Meridian", "House of Vane", "Ferry Road", "The Understudy", "Bright Hollow", "Station Twelve"}
	houses   = []string{"Maison Arkwright", "Vane & Crane", "Atelier Benedek", "Strand", "Casa Marchetti", "Hallow", "Ostrow Studio", "Lindqvist"}
	famous   = []string{"Iris Fontaine", "Duke Ransome", "Coco Valdane", "Remy Sterling", "Lola Everhart", "Jax Monroe-Vale", "Pia Castellan"}
	firms    = []string{"Northwind Systems", "Quillbyte", "Halcyon Labs", "Orchard Compute", "Vector Foundry", "Lumen Robotics", "Kestrel Cloud", "Basalt Motors", "Sable Semiconductor", "Tessera Health"}
	models   = []string{"Heron 4", "Atlas Prime", "Quill XL", "Meridian 3", "Juniper Ultra", "Corvid 2"}
	rivers   = []string{"the Ostra", "the Calder", "the Lun", "the Tamsin", "the Marrow", "the Brack"}
	storms   = []string{"Agnes", "Boris", "Calla", "Dmitri", "Elodie", "Fintan", "Greta", "Hollis"}
	missions = []string{"Heron lander", "Argosy orbiter", "Lodestar capsule", "Meridian probe", "Kestrel heavy rocket"}
	banks    = []string{"the Averland central bank", "the Nordmark reserve bank", "the Pelagian monetary board", "the Delta Federation treasury"}
	awards   = []string{"Golden Lantern", "Silver Reel", "Harbour Prize", "Meridian Award"}
	treaties = []string{"the Strait accord", "the grain corridor agreement", "the border water treaty", "the fisheries pact", "the ceasefire of the northern passes"}
)
