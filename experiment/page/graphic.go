package page

// graphic is a drawing that the template writes as SVG.
type graphic struct {
	Title, Description string
	Width, Height      int
	Lines              []stroke
	Paths              []curve
	Dots               []dot
	Texts              []caption
	Key                []stripPart // legend of the colours
}

type stroke struct{ X1, Y1, X2, Y2, Class string }

type curve struct{ D, Class string }

type dot struct{ X, Y, R, Class, Title string }

type caption struct{ X, Y, Class, Text string }
