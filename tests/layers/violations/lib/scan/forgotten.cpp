// nor this
