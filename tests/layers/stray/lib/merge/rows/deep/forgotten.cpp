// nothing builds this
