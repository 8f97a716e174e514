"""The method of the paper (Alayrac et al., CVPR 2016), to be read beside it."""
