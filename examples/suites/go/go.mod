module deadheat.example/suite

go 1.19
