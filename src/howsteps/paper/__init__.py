"""The method of the 2016 paper (Alayrac et al., CVPR 2016), to be read beside it.

======================================================  ==========================================
the paper                                               here
======================================================  ==========================================
Section 4.1: relations, D, the match of two relations   :mod:`howsteps.narration`, :mod:`.script`
equation (1), multiple sequence alignment               :mod:`.alignment_problem`
Appendix B.1: U, B, Y, C_o, Tr(UᵀBU)                    :mod:`.alignment_problem`
Appendix B.2: Frank-Wolfe, oracle, rounding             :mod:`.alignment_frank_wolfe`
Appendix B.2: POA and Clustal                           :mod:`.aligners`
Section 4.1: the K steps of the script                  :mod:`.script`
Section 5: motion and appearance as codewords           :mod:`.visual_words`, :mod:`.motion`,
                                                        :mod:`.vgg16`
tables of results beside the printed ones               :mod:`.tables`, :mod:`.methods`
the authors' program, where it differs                  ``AUTHORS`` in :mod:`.alignment`,
                                                        ``OPTIONS`` in :mod:`.script`
not in the paper: a better solver, bounds               :mod:`.alignment_search`,
                                                        :mod:`.alignment_bounds`
======================================================  ==========================================
"""
