package page

// graphic is a drawing that stands in the page as SVG.
type graphic struct {
	Title, Description string
	Width, Height      int
	Lines              []stroke
	Paths              []curve
	Dots               []dot
	Texts              []caption
	Key                []slice // what the inks stand for
}

type stroke struct{ X1, Y1, X2, Y2, Class string }

type curve struct{ D, Class string }

type dot struct{ X, Y, R, Class, Title string }

type caption struct{ X, Y, Class, Text string }
