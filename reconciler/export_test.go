package reconciler

// What tests of whole installations need to know.
const SecondScan = secondScan
